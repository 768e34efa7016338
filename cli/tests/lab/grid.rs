//! Grids of `lab run`, and its plots.

use serde_json::Value;

use crate::common::run;
use crate::lab::{Folder, SHORT, lab, last};

#[test]
fn a_grid_has_the_means_of_the_same_sweep() {
    let grid = ["--over", "load=0.5,0.8", "--over", "queue=20,1000", "--set", "duration_s=5", "--seeds", "2", "--json"];
    let ran = lab(&[&["run", "md1"], &grid[..]].concat());
    assert_eq!(ran.lines().count(), 4 * 2 + 1, "a line for each run, and the means");
    let (ran, folder) = (last(&ran), Folder::new("grid-swept"));
    let swept = last(&lab(&[&["sweep", "md1"], &grid[..], &["--out", folder.path()]].concat()));
    let points = |object: &Value| -> Vec<(Value, Value)> {
        let points = object["points"].as_array().expect("points");
        points.iter().map(|point| (point["over"].clone(), point["means"]["packets"].clone())).collect()
    };
    assert_eq!((points(&ran).len(), points(&ran)), (4, points(&swept)));
    let stdout = lab(&[&["run", "md1"], &grid[..grid.len() - 1]].concat());
    for row in ["load=0.5 queue=20 ", "load=0.8 queue=1000 "] {
        assert!(stdout.lines().any(|line| line.starts_with(row)), "{row}: {stdout}");
    }
}

#[test]
fn a_grid_is_refused_in_one_line() {
    for (args, expected) in [
        (&["--over", "load=0.5,0.5"][..], "load: '0.5' is given twice"),
        (&["--over", "load=0.5,0.8", "--set", "load=0.5"], "--set load=0.5: conflicts with --over; leave it out"),
        (&["--over", "load=0.5,0.8", "--tpindex"], "cannot be used with"),
        (&["--over", "speed=1,2"], "unknown parameter 'speed'"),
    ] {
        let (code, stdout, stderr) = run(&[&["lab", "run", "md1"], args].concat());
        assert_eq!((code, stdout.as_str(), stderr.lines().count()), (2, "", 1), "{stderr}");
        assert!(stderr.contains(expected), "{stderr}");
    }
    let (code, _, stderr) = run(&["lab", "run", "md1", "--set", "duration_s=2", "--plot", "/dev/null/x.html"]);
    assert!(code == 1 && stderr.ends_with("cannot write /dev/null/x.html: not a directory\n"), "{stderr}");
}

/// The points of a line of a plot, between two times.
fn points(page: &str, plot: &str, line: &str, from: f64) -> Vec<f64> {
    let data = page.split("<script type=\"application/json\">").skip(1).map(|text| text.split("</script>").next());
    let plots = data.map(|text| serde_json::from_str::<Value>(text.expect("an end")).expect("JSON"));
    let plot = plots.into_iter().find(|it| it["title"].as_str().is_some_and(|title| title.starts_with(plot)));
    let plot = plot.expect("the plot");
    let lines = plot["lines"].as_array().expect("lines");
    let line = lines.iter().find(|it| it["name"] == line).expect("the line");
    let points = line["points"].as_array().expect("points").iter();
    points.filter(|point| point[0].as_f64() > Some(from)).map(|point| point[1].as_f64().expect("a number")).collect()
}

/// Compared with the goodput of the same seed, and with the queue that the scenario has.
#[test]
fn a_plot_shows_throughput_queues_and_windows_over_time() {
    let folder = Folder::new("plot");
    std::fs::create_dir(&folder.0).expect("a folder");
    let page = folder.0.join("page.html");
    let args = ["run", "dumbbell", "--seeds", "1", "--json", "--plot", page.to_str().expect("UTF-8")];
    let object = last(&lab(&[&args, &SHORT[..]].concat()));
    let page = folder.read("page.html");
    let delivered = points(&page, "Throughput", "tcp", 4.0);
    let mean = delivered.iter().sum::<f64>() / delivered.len() as f64;
    let goodput = object["tcp_goodput_mbps"].as_f64().expect("a number");
    assert!((mean / goodput - 1.0).abs() < 0.02, "{mean}, {goodput}");
    assert!(points(&page, "Queues", "hop 1", 0.0).iter().any(|packets| *packets > 10.0));
    assert!(points(&page, "Congestion window", "tcp", 0.0).iter().all(|cwnd| *cwnd >= 1.0));
}
