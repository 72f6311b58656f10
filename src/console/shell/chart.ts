/**
 * Draws a `time-chart`: lines over time, from the JSON that the element carries. It is drawn where
 * the element appears, also in a part that came later, and anew when the theme changes. Times are
 * those of Nairobi.
 */
export const CHART_SCRIPT = `
const HEIGHT = 220;
const DARK = matchMedia('(prefers-color-scheme: dark)');
const CLOCK = new Intl.DateTimeFormat('en-GB', { timeZone: 'Africa/Nairobi', hour: '2-digit', minute: '2-digit' });
const LINES = ['--line-1', '--line-2', '--line-3', '--line-4', '--line-5'];
customElements.define('time-chart', class extends HTMLElement {
  connectedCallback() {
    this.draw();
    this.redraw = () => { this.clear(); this.draw(); };
    DARK.addEventListener('change', this.redraw);
  }
  disconnectedCallback() {
    DARK.removeEventListener('change', this.redraw);
    this.clear();
  }
  draw() {
    const { from, to, times, series } = JSON.parse(this.dataset.chart);
    const style = getComputedStyle(this);
    const colour = (name) => style.getPropertyValue(name).trim();
    const axis = { stroke: colour('--soft'), grid: { stroke: colour('--line') }, ticks: { stroke: colour('--line') } };
    const lines = series.map(({ label }, n) => ({
      label, width: 2, spanGaps: true, points: { show: true }, stroke: colour(LINES[n % LINES.length]),
    }));
    const size = () => ({ width: this.clientWidth || 300, height: HEIGHT });
    this.plot = new uPlot({
      ...size(),
      tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), 'Africa/Nairobi'),
      scales: { x: { range: [Math.min(from, ...times), to] }, y: { range: (plot, min, max) => [0, Math.max(max, 1) * 1.05] } },
      axes: [{ ...axis, values: (plot, ticks) => ticks.map((tick) => CLOCK.format(tick * 1000)) }, axis],
      series: [{}, ...lines],
    }, [times, ...series.map(({ values }) => values)], this);
    this.observer = new ResizeObserver(() => this.plot.setSize(size()));
    this.observer.observe(this);
  }
  clear() {
    this.observer.disconnect();
    this.plot.destroy();
  }
});
`;
