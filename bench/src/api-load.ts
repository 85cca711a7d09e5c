import autocannon from 'autocannon';
import { API_KEY, type ApiServers } from './api-servers.ts';
import type { BenchmarkContext, Comparison } from './benchmark.ts';
import { BenchmarkError } from './benchmark-error.ts';

export const CONNECTIONS = 20;
/** Functions that answer are compiled after some hundred requests. */
export const WARM_UP_SECONDS = 3;

/** What is asked of both servers, one path after the other. */
export interface AskedPaths {
  readonly name: string;
  readonly paths: readonly string[];
}

/** What the program is to answer of what the others do. */
export interface LoadTargets {
  /** Times the baseline, plain and compressed. */
  readonly baseline: number;
  /** Of the floor. */
  readonly floor: number;
}

interface Side {
  readonly name: string;
  readonly url: string;
  readonly encoding: 'gzip' | 'identity';
  /** Requests answered a second, by run. */
  readonly rates: number[];
}

/** Requests a second that each side answers, all of them warm and measured in turn. */
export async function compareThroughput(
  { runs, sizes, say }: BenchmarkContext,
  { name, paths }: AskedPaths,
  servers: ApiServers,
  targets: LoadTargets,
): Promise<Comparison[]> {
  const side = (name: string, url: string, encoding: 'gzip' | 'identity'): Side => ({ name, url, encoding, rates: [] });
  const ours = side('chainstead', servers.url, 'identity');
  const baseline = side('baseline', servers.baselineUrl, 'identity');
  const floor = side('floor', servers.floorUrl, 'identity');
  const oursCompressed = side('chainstead, gzip', servers.url, 'gzip');
  const baselineCompressed = side('baseline, gzip', servers.baselineUrl, 'gzip');
  const sides = [ours, baseline, floor, oursCompressed, baselineCompressed];
  for (const each of sides) await load(each, paths, WARM_UP_SECONDS);
  for (let run = 0; run < runs; run++)
    // Whoever goes first changes, so that what the machine has warmed up falls on all.
    for (const each of run % 2 === 0 ? sides : sides.toReversed()) {
      say(`  run ${run + 1} of ${runs}: ${each.name}, ${name}`);
      each.rates.push(await load(each, paths, sizes.loadSeconds));
    }
  const unit = 'requests/s';
  return [
    {
      name: `${name}, baseline`,
      unit,
      ours: ours.rates,
      peer: baseline.rates,
      target: { atLeast: targets.baseline },
    },
    {
      name: `${name}, gzip, baseline`,
      unit,
      ours: oursCompressed.rates,
      peer: baselineCompressed.rates,
      target: { atLeast: targets.baseline },
    },
    { name: `${name}, floor`, unit, ours: ours.rates, peer: floor.rates, target: { atLeast: targets.floor } },
  ];
}

/** Asks over {@link CONNECTIONS} connections. @returns requests answered a second @throws {BenchmarkError} when any is refused */
export async function load(
  { url, encoding }: Pick<Side, 'url' | 'encoding'>,
  paths: readonly string[],
  seconds: number,
): Promise<number> {
  const result = await autocannon({
    url,
    connections: CONNECTIONS,
    duration: seconds,
    headers: { 'x-api-key': API_KEY, 'accept-encoding': encoding },
    requests: paths.map((path) => ({ method: 'GET', path })),
  });
  if (result.non2xx > 0 || result.errors > 0)
    throw new BenchmarkError(`${result.non2xx} requests were refused and ${result.errors} failed at ${url}`);
  return result['2xx'] / result.duration;
}
