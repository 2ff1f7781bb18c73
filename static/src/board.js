// The whiteboard: strokes in an array of the shared document, drawn in a field of 1600 by 1000.

const WIDTH = 1600, HEIGHT = 1000;
export const COLOURS = ["ink", "blue", "red", "green"];

export function paint(canvas, strokes) {
  const ratio = window.devicePixelRatio || 1;
  const width = Math.round(canvas.clientWidth * ratio), height = Math.round(canvas.clientWidth * (HEIGHT / WIDTH) * ratio);
  if (!width) return;
  if (canvas.width !== width || canvas.height !== height) { canvas.width = width; canvas.height = height; }
  const style = getComputedStyle(canvas), pen = canvas.getContext("2d");
  pen.setTransform(width / WIDTH, 0, 0, height / HEIGHT, 0, 0);
  pen.clearRect(0, 0, WIDTH, HEIGHT);
  pen.lineCap = pen.lineJoin = "round";
  for (const { colour, width: wide, points } of strokes) {
    if (!Array.isArray(points) || !points.length) continue;
    pen.strokeStyle = style.getPropertyValue(`--pen-${COLOURS.includes(colour) ? colour : "ink"}`);
    pen.lineWidth = wide;
    pen.beginPath();
    pen.moveTo(...points[0]);
    for (const [x, y] of points) pen.lineTo(x, y);
    pen.stroke();
  }
}

const near = (stroke, [x, y]) => stroke.points.some(([a, b]) => Math.hypot(a - x, b - y) < 18 + stroke.width);

export function makeBoard(canvas, array, { tools, clear }) {
  let tool = "ink", drawn = null;
  const draw = () => paint(canvas, drawn ? [...array.toJSON(), drawn] : array.toJSON());
  const place = (event) => {
    const box = canvas.getBoundingClientRect();
    const at = (value, most) => Math.round(Math.min(most, Math.max(0, value)) * 10) / 10;
    return [at(((event.clientX - box.left) / box.width) * WIDTH, WIDTH), at(((event.clientY - box.top) / box.height) * HEIGHT, HEIGHT)];
  };
  const wipe = (point) => array.doc.transact(() => {
    for (let index = array.length - 1; index >= 0; index--) if (near(array.get(index), point)) array.delete(index);
  });
  canvas.addEventListener("pointerdown", (event) => {
    if (event.button || canvas.dataset.locked) return;
    canvas.setPointerCapture(event.pointerId);
    if (tool === "eraser") { wipe(place(event)); drawn = { points: [] }; } else drawn = { colour: tool, width: 4, points: [place(event)] };
    draw();
  });
  canvas.addEventListener("pointermove", (event) => {
    if (!drawn) return;
    if (tool === "eraser") wipe(place(event)); else if (drawn.points.length < 2000) drawn.points.push(place(event));
    draw();
  });
  const end = () => {
    if (drawn?.colour) array.push([drawn]);
    drawn = null;
    draw();
  };
  canvas.addEventListener("pointerup", end);
  canvas.addEventListener("pointercancel", end);
  for (const button of tools) {
    button.addEventListener("click", () => {
      tool = button.dataset.tool;
      for (const one of tools) one.setAttribute("aria-pressed", String(one === button));
    });
  }
  clear.addEventListener("click", () => array.length && array.delete(0, array.length));
  array.observe(draw);
  new ResizeObserver(draw).observe(canvas);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
  draw();
  return { draw };
}
