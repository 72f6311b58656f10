import { pathTo } from '../routes.ts';
import { ASSETS } from '../shell/assets.ts';
import { FiguresPart } from './figures-view.tsx';
import type { Figures } from './query.ts';

/** The first page: how everything goes. Its parts refresh themselves. */
export function Overview({ figures }: { figures: Figures }) {
  return (
    <>
      <link rel="stylesheet" href={ASSETS.plotStyle.path} />
      <script src={ASSETS.plot.path} defer />
      <script src={ASSETS.chart.path} defer />
      <h1>Overview</h1>
      <div
        hx-get={pathTo('overviewFigures')}
        hx-trigger="every 10s"
        hx-swap="innerMorph"
        aria-live="off"
      >
        <FiguresPart figures={figures} />
      </div>
      <div hx-get={pathTo('overviewQueues')} hx-trigger="load, every 10s" hx-swap="innerMorph">
        <h2>Queues</h2>
        <p class="soft">Asking the queues …</p>
      </div>
      <div hx-get={pathTo('overviewOutcomes')} hx-trigger="load, every 60s" hx-swap="innerHTML">
        <h2>The last hours</h2>
        <p class="soft">Reading …</p>
      </div>
    </>
  );
}
