use thalweg_lab::paper::fec_arq as hybrid;
use thalweg_lab::paper::geneva::claims::CLAIMS;
use thalweg_lab::paper::geneva::{Condition, Job, Results};

use super::keep::Keep;
use super::*;

/// Everything that is drawn or printed, from runs of half a second, by the code of the real thing; what a plan has
/// and nobody ran is missing there.
#[test]
fn a_short_look_ends_in_a_page_with_all_sections() {
    let plan = Plan {
        length: Length::Short { tcp_start: 0.1, settle: 0.1, window: 0.5 },
        seeds: 1,
        n_tcp_10: vec![20, 200],
        n_tcp_100: vec![20],
        fig2_seconds: 6.0,
        fig2_seeds: 1,
    };
    let is_short = |job: &Job| match job.condition {
        Condition::OneStream { rtt_ms } => rtt_ms <= 10,
        Condition::LongTcp { n_tcp, .. } => n_tcp == 20,
        Condition::ShortTcp { .. } => false,
        Condition::MixedRates => true,
    };
    let jobs: Vec<Job> = plan.jobs().into_iter().filter(is_short).collect();
    let Ok(results) = geneva::run_jobs(plan, &jobs, None, 2) else { panic!("every job can be run") };
    assert_eq!(results.len(), jobs.len());
    assert!(geneva::evidence(&results).broken().is_empty());
    let page = geneva::of(&results, jobs.len(), "thalweg lab reproduce geneva");
    let (html, markdown) = (page.to_html(), page.to_markdown());
    let figures = [2, 5, 6, 8, 9, 10, 11, 12].map(|number| format!("Fig. {number}"));
    let tables = ["Table 1", "Table 2", "Claims", "Options"].map(str::to_owned);
    for section in figures.iter().chain(&tables) {
        assert!(html.contains(&format!("<h2>{section}")), "{section}");
        assert!(markdown.contains(&format!("\n## {section}")), "{section}");
    }
    for claim in CLAIMS {
        assert!(html.contains(claim.id) && markdown.contains(claim.id), "{}", claim.id);
    }
    assert!(!html.contains("NaN") && !markdown.contains("NaN"), "what is missing is said in words");
}

#[test]
fn results_do_not_depend_on_the_number_of_threads() {
    let plan = Plan { fig2_seconds: 6.0, fig2_seeds: 2, ..Plan::quick() };
    let is_small = |job: &Job| matches!(job.condition, Condition::OneStream { rtt_ms: 1 | 50 });
    let jobs: Vec<Job> = plan.jobs().into_iter().filter(is_small).collect();
    let Ok(alone) = geneva::run_jobs(plan.clone(), &jobs, None, 1) else { panic!("every job can be run") };
    let Ok(together) = geneva::run_jobs(plan, &jobs, None, 3) else { panic!("every job can be run") };
    let bytes = |results: &Results| geneva::of(results, jobs.len(), "").to_html();
    assert_eq!(bytes(&alone), bytes(&together));
}

/// The same of hybrid FEC-ARQ, with a recording of ten packets.
#[test]
fn a_short_look_at_fec_arq_has_all_sections() {
    let lines: String = (0..10).map(|nth| format!("{nth},{},50,{}\n", nth * 20, u32::from(nth == 4))).collect();
    let text = format!("seq,send_ms,rel_delay_ms,lost\n{lines}");
    let recording = hybrid::Recording::parse("ten", &text).expect("ten packets");
    let plan = hybrid::Plan { bursts: 20, seeds: 2, recordings: vec![recording] };
    let jobs = plan.jobs();
    let Ok(alone) = fec_arq::run_jobs(&plan, &jobs, None, 1) else { panic!("every job can be run") };
    let folder = std::env::temp_dir().join(format!("thalweg-reproduce-{}", std::process::id()));
    let keep = Keep::open(&folder, &plan).ok().expect("a folder");
    // Run at once, and taken up from what is kept.
    for _ in 0..2 {
        let Ok(together) = fec_arq::run_jobs(&plan, &jobs, Some(&keep), 3) else { panic!("every job can be run") };
        assert_eq!(alone, together);
    }
    assert_eq!(std::fs::read_dir(&folder).expect("a folder").count(), jobs.len());
    std::fs::remove_dir_all(folder).expect("it is ours");
    assert!(fec_arq::evidence(&alone).broken().is_empty());
    let page = fec_arq::of(&alone, jobs.len(), "thalweg lab reproduce fec-arq");
    let (html, markdown) = (page.to_html(), page.to_markdown());
    let figures = (3..=12).map(|number| format!("Fig. {number}"));
    let tables = ["Table II", "Table III", "Table IV", "Claims", "Beside the bound", "Options"].map(str::to_owned);
    for section in figures.chain(tables) {
        assert!(html.contains(&format!("<h2>{section}")), "{section}");
        assert!(markdown.contains(&format!("\n## {section}")), "{section}");
    }
    for claim in hybrid::claims::CLAIMS {
        assert!(html.contains(claim.id) && markdown.contains(claim.id), "{}", claim.id);
    }
    assert!(!html.contains("NaN") && !markdown.contains("NaN"), "what is missing is said in words");
}
