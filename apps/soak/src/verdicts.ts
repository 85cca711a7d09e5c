import type { TableWrites } from '@chainstead/db/table-writes';
import type { Sample } from './sample.ts';
import { fifth, lastTwoThirds, mean, quantile, relativeRise, tips } from './series.ts';

/** One thing that a soak says. */
export interface Verdict {
  readonly name: string;
  /** Null: not judged, as the soak was too short for it or the machine doesn't tell. */
  readonly passed: boolean | null;
  /** What was measured against what. */
  readonly measured: string;
}

/**
 * How long a soak has to be for a statement about a trend: before, caches fill, code is compiled, and a part of it is shorter than
 * the minutes from one large garbage collection to the next.
 */
export const TREND_SECONDS_MIN = 900;
/** And how many samples. */
const TREND_SAMPLES_MIN = 10;
/** Of the mean, of a line through the tips of the last two thirds. */
const MEMORY_RISE_MAX = 0.05;
/** The last fifth against the second. */
const MEMORY_RATIO_MAX = 1.1;
const LATENCY_RATIO_MAX = 1.3;
const BYTES_PER_ROW_RATIO_MAX = 1.1;
/** Below this many milliseconds a p99 that rises says nothing. */
const QUIET_MS = { pages: 25, followers: 500 } as const;
/** What the machine's host may take of its processors in a stretch, and in the one before, that latencies are judged by. */
const STOLEN_MAX = 0.03;
/** Of the samples of a fifth, how many have to be such stretches. */
const UNDISTURBED_MIN = 1 / 4;
/** Tables below this size are never bloated. */
const SMALL_TABLE_BYTES = 4 * 1_024 * 1_024;
/** Dead rows by live ones: what autovacuum is set to, and what comes while it is at work. */
const DEAD_SHARE_MAX = 0.35;
const MEGABYTE = 1_048_576;

export function memoryVerdicts(samples: readonly Sample[]): Verdict[] {
  const processes = new Set(samples.flatMap(({ memory }) => [...memory.keys()]));
  return [...processes].map((name) => {
    const rss = samples.flatMap(({ memory }) => memory.get(name)?.rss ?? []);
    if (isTooShort(samples) || rss.length < TREND_SAMPLES_MIN) return tooShort(`memory of ${name}`);
    // Garbage makes a saw of it, by a third of its height: a line through all of it rises or falls by some percent whatever happens.
    const rise = relativeRise(tips(lastTwoThirds(rss)));
    const [early, late] = [Math.max(...fifth(rss, 1)), Math.max(...fifth(rss, 4))];
    return {
      name: `memory of ${name}`,
      passed: rise <= MEMORY_RISE_MAX && late <= early * MEMORY_RATIO_MAX,
      measured: `${megabytes(early)} → ${megabytes(late)} MB (at most × ${MEMORY_RATIO_MAX}); its tips rise by ${percent(rise)} over the last two thirds (at most ${percent(MEMORY_RISE_MAX)})`,
    };
  });
}

/** @param kindOf by what kind of writes a table changes; undefined for one that nobody declared */
export function tableVerdicts(
  samples: readonly Sample[],
  kindOf: (table: string) => TableWrites | undefined,
): Verdict[] {
  const names = samples.at(-1)?.tables.map(({ name }) => name) ?? [];
  const large = names.filter((name) => bytesOf(samples.at(-1), name) >= SMALL_TABLE_BYTES);
  if (isTooShort(samples)) return [tooShort('bloat')];
  return large.flatMap((name) => {
    const bytesPerRow = samples.map((sample) => bytesOf(sample, name) / Math.max(1, lookOf(sample, name)?.live ?? 0));
    const [early, late] = [mean(fifth(bytesPerRow, 1)), mean(fifth(bytesPerRow, 4))];
    const size: Verdict = {
      name: `bytes a row of ${name}`,
      passed: late <= early * BYTES_PER_ROW_RATIO_MAX,
      measured: `${early.toFixed(0)} → ${late.toFixed(0)} (at most × ${BYTES_PER_ROW_RATIO_MAX})`,
    };
    if (kindOf(name) === 'append') return [size];
    const dead = mean(fifth(samples, 4).map((sample) => deadShare(sample, name)));
    const deadRows: Verdict = {
      name: `dead rows of ${name}`,
      passed: dead <= DEAD_SHARE_MAX,
      measured: `${percent(dead)} of the live ones (at most ${percent(DEAD_SHARE_MAX)})`,
    };
    return [size, deadRows];
  });
}

export function latencyVerdicts(samples: readonly Sample[]): Verdict[] {
  return [
    flatP99('p99 of pages', samples, ({ pages }) => pages.latenciesMs, QUIET_MS.pages),
    flatP99('p99 of webhooks', samples, ({ world }) => world.delaysMs, QUIET_MS.followers),
    flatP99('p99 of the lag behind the head', samples, ({ lagsMs }) => lagsMs, QUIET_MS.followers),
  ];
}

/** Judged in stretches in which the machine had its processors: what the host takes away says nothing about the program. */
function flatP99(
  name: string,
  samples: readonly Sample[],
  valuesOf: (sample: Sample) => readonly number[],
  quietMs: number,
): Verdict {
  if (isTooShort(samples)) return tooShort(name);
  const undisturbed = samples.map(
    (sample, index) => hadProcessors(sample) && hadProcessors(samples[index - 1] ?? sample),
  );
  const parts = ([1, 4] as const).map((part) => {
    const all = fifth(samples, part);
    const kept = all.filter((_, index) => fifth(undisturbed, part)[index]);
    return { all, kept, isEnough: kept.length >= all.length * UNDISTURBED_MIN };
  });
  const p99 = (stretches: readonly Sample[]): number => quantile(stretches.flatMap(valuesOf), 0.99);
  const whole = parts.map(({ all }) => p99(all));
  if (whole.some(Number.isNaN)) return { name, passed: false, measured: 'nothing came' };
  const wholeText = `${textOf(whole)} with all stretches; ${machineText(samples)}`;
  if (!parts.every(({ isEnough }) => isEnough))
    return { name, passed: null, measured: `the machine's host took away too much of its processors: ${wholeText}` };
  const [early = Number.NaN, late = Number.NaN] = parts.map(({ kept }) => p99(kept));
  return {
    name,
    passed: late <= Math.max(quietMs, early * LATENCY_RATIO_MAX),
    measured: `${textOf([early, late])} (at most × ${LATENCY_RATIO_MAX}, or ${quietMs} ms) in ${textOfCounts(parts)} stretches with all processors; ${wholeText}`,
  };
}

function hadProcessors({ stolen }: Sample): boolean {
  return (stolen ?? 0) <= STOLEN_MAX;
}

function textOf(milliseconds: readonly number[]): string {
  return `${milliseconds.map((ms) => ms.toFixed(0)).join(' → ')} ms`;
}

function textOfCounts(
  parts: readonly { readonly all: readonly unknown[]; readonly kept: readonly unknown[] }[],
): string {
  return parts.map(({ all, kept }) => `${kept.length} of ${all.length}`).join(' and ');
}

/** What else the machine had to do meanwhile, and what its host took away. */
function machineText(samples: readonly Sample[]): string {
  const both = (of: (part: readonly Sample[]) => string): string =>
    ([1, 4] as const).map((part) => of(fifth(samples, part))).join(' → ');
  const stolen = (part: readonly Sample[]): string => {
    const shares = part.flatMap((sample) => sample.stolen ?? []);
    return shares.length === 0 ? '?' : `${(100 * mean(shares)).toFixed(0)} %`;
  };
  return `the machine's load ${both((part) => mean(part.map(({ load }) => load)).toFixed(1))}, stolen ${both(stolen)}`;
}

/** That a count is zero. */
export function noneOf(name: string, count: number, examples: readonly string[] = []): Verdict {
  return { name, passed: count === 0, measured: [String(count), ...examples].join('; ') };
}

function isTooShort(samples: readonly Sample[]): boolean {
  return samples.length < TREND_SAMPLES_MIN || (samples.at(-1)?.seconds ?? 0) < TREND_SECONDS_MIN - 1;
}

function tooShort(name: string): Verdict {
  return {
    name,
    passed: null,
    measured: `less than ${TREND_SECONDS_MIN / 60} minutes or ${TREND_SAMPLES_MIN} samples`,
  };
}

function lookOf(sample: Sample | undefined, name: string) {
  return sample?.tables.find((table) => table.name === name);
}

function bytesOf(sample: Sample | undefined, name: string): number {
  const look = lookOf(sample, name);
  return (look?.tableBytes ?? 0) + (look?.indexBytes ?? 0);
}

function deadShare(sample: Sample, name: string): number {
  const look = lookOf(sample, name);
  return (look?.dead ?? 0) / Math.max(1, look?.live ?? 0);
}

function megabytes(bytes: number): string {
  return (bytes / MEGABYTE).toFixed(0);
}

function percent(share: number): string {
  return `${(100 * share).toFixed(1)} %`;
}
