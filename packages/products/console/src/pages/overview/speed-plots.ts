import type { ChainSample } from '@chainstead/sync/ingest';
import { html } from 'hono/html';
import { type ConsoleRoutes, type ConsoleServices, jsonFile } from '../../console-page.ts';
import { type Html, NOTHING, note, plot, readChoice, section } from '../../layout/html.ts';
import { type ChainFacts, growth, type OverviewSource } from './read-overview.ts';

const FIGURES = {
  blocks: 'Blocks per second',
  versions: 'Versions per second',
  rows: 'Rows per second',
} as const;
type Figure = keyof typeof FIGURES;
const FIGURE_NAMES = ['blocks', 'versions', 'rows'] as const satisfies readonly Figure[];

/** As many as plots have colors. */
const CHAINS_MAX = 6;
/** A line of one point shows nothing. */
const POINTS_MIN = 2;

export function addSpeedPlots(routes: ConsoleRoutes, { overview }: Pick<ConsoleServices, 'overview'>): void {
  routes.view('/overview/speed.json', async ({ query }) => {
    const figure = readChoice('of', query('of'), FIGURE_NAMES) ?? 'blocks';
    return jsonFile(await readPlot(overview, figure));
  });
}

/** Plots with at least one line. */
export async function speedPlots(overview: OverviewSource): Promise<Html> {
  const plots = await Promise.all(
    FIGURE_NAMES.map(async (figure) => {
      const { times, labels, chains } = await readPlot(overview, figure);
      if (times.length < POINTS_MIN) return NOTHING;
      return section(
        `speed-${figure}`,
        FIGURES[figure],
        labels.length < chains && note(html`The ${labels.length} fastest of ${chains} chains.`),
        plot(
          `/console/overview/speed.json?of=${figure}`,
          'The plot needs JavaScript. The cards show the current speed.',
        ),
      );
    }),
  );
  return html`${plots}`;
}

async function readPlot(overview: OverviewSource, figure: Figure) {
  const [chains, samples] = await Promise.all([overview.chains(), overview.recent()]);
  const moving = chains
    .map((facts) => ({
      ...{ name: facts.card.name, isDone: facts.card.isDone },
      speeds: speedsOf(samples.get(facts.card.sampledAs) ?? [], facts, figure),
    }))
    // A chain that stands still is shown at zero, unless it has reached its end.
    .filter(({ speeds, isDone }) => speeds.size > 0 && !(isDone && sumOf(speeds) === 0))
    .toSorted((left, right) => sumOf(right.speeds) - sumOf(left.speeds));
  const lines = moving.some(({ speeds }) => sumOf(speeds) > 0) ? moving.slice(0, CHAINS_MAX) : [];
  const times = [...new Set(lines.flatMap(({ speeds }) => [...speeds.keys()]))].toSorted((a, b) => a - b);
  return {
    labels: lines.map(({ name }) => name),
    chains: moving.length,
    unit: `${figure}/s`,
    range: [times[0] ?? 0, times.at(-1) ?? 0],
    top: 0,
    times,
    values: lines.map(({ speeds }) => times.map((time) => speeds.get(time) ?? null)),
  };
}

/** By second since 1970. Blocks that are read later count as new ones do. */
function speedsOf(
  samples: readonly ChainSample[],
  { card, status }: ChainFacts,
  figure: Figure,
): ReadonlyMap<number, number> {
  // Datasets that are stuck or no longer indexed end below the others, and add nothing.
  const newest = Math.max(...status.coverage.map(({ range }) => range.to));
  const followed = status.coverage.filter(({ range }) => range.to === newest);
  const datasets = new Set(followed.map(({ dataset }) => dataset)).size;
  if (figure !== 'rows' && (figure !== card.unit || datasets === 0)) return new Map();
  const read = ({ rows, covered }: ChainSample) => (figure === 'rows' ? rows : covered / datasets);
  const speeds = samples.slice(1).flatMap((sample, index): [number, number][] => {
    const speed = growth(samples.slice(index, index + 2), read);
    return speed === null ? [] : [[sample.minute.getTime() / 1_000, speed]];
  });
  return new Map(speeds);
}

function sumOf(speeds: ReadonlyMap<number, number>): number {
  return [...speeds.values()].reduce((sum, speed) => sum + speed, 0);
}
