// The values under the pointer. Everything else on the page works without this.
for (const figure of document.querySelectorAll(".plot")) {
  const plot = JSON.parse(figure.querySelector("script").textContent);
  const area = figure.querySelector(".area");
  const [low, high] = figure.dataset.x.split(" ").map(Number);
  const add = (name) => area.appendChild(Object.assign(document.createElement("div"), { className: name, hidden: true }));
  const cursor = add("cursor"), tip = add("tip");

  const write = (value, axis) => {
    const size = Math.abs(value), digits = size >= 100 ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : 3;
    return `${Number(value.toFixed(digits))}${axis.unit && "\u202f" + axis.unit}`;
  };
  const nearest = (points, x) =>
    points.reduce((best, point) => (Math.abs(point[0] - x) < Math.abs(best[0] - x) ? point : best), points[0]);

  area.addEventListener("pointermove", (event) => {
    const box = area.getBoundingClientRect();
    const share = Math.min(1, Math.max(0, (event.clientX - box.left) / box.width));
    const x = figure.dataset.logarithmic ? low * (high / low) ** share : low + share * (high - low);
    const rows = plot.lines.filter((line) => line.points.length).map((line) => [line, nearest(line.points, x)]);
    if (!rows.length) return;
    const head = document.createElement("b");
    head.textContent = write(x, plot.x);
    tip.replaceChildren(head, ...rows.map(([line, point]) => {
      const row = document.createElement("div"), dot = document.createElement("i");
      dot.className = `tone-${line.tone}`;
      row.append(dot, `${line.name}  ${point[1] === null ? "unknown" : write(point[1], plot.y)}`);
      return row;
    }));
    cursor.hidden = tip.hidden = false;
    cursor.style.left = `${share * 100}%`;
    tip.style.left = share < 0.5 ? `calc(${share * 100}% + 10px)` : "";
    tip.style.right = share < 0.5 ? "" : `calc(${(1 - share) * 100}% + 10px)`;
  });
  area.addEventListener("pointerleave", () => { cursor.hidden = tip.hidden = true; });
}
