import type { Clock } from '@chainstead/core';
import { blockCall, checkIdentity } from '../blocks/fetch-blocks.ts';
import { parseHeader } from '../formats/parse-block.ts';
import { MalformedAnswerError } from '../formats/parse-log.ts';
import type { CallOptions } from '../transport/rpc-exchange.ts';
import type { Upstream } from '../upstream/upstream.ts';
import type { Head } from '../upstream-pool.ts';

/** Caches each head: an unchanged number costs one small call. */
export interface HeadProbe {
  /** Newest returned block. @throws UpstreamFault, RpcCallError, MalformedAnswerError */
  ask(upstream: Upstream): Promise<Head>;
  last(name: string): Head | undefined;
}

/** Load-balanced nodes lack a just announced block that long. */
const SECOND_LOOK_MS = 150;
/** An unchanged number is checked for another hash: a reorg at the same height. */
const HASH_CHECK_MS = 1_000;
/** At a learned pace, one check per this many calls. */
const HASH_CHECK_CALLS = 40;
const STEP_BACK_MAX = 64;

export function createHeadProbe({ clock }: { readonly clock: Clock }): HeadProbe {
  const heads = new Map<string, { readonly head: Head; readonly at: number }>();
  const running = new Map<string, Promise<Head>>();

  async function read(upstream: Upstream, at: number | 'latest', given: CallOptions): Promise<Head | null> {
    const { method, params } =
      at === 'latest' ? { method: 'eth_getBlockByNumber', params: ['latest', false] } : blockCall(at);
    const json = await upstream.call(method, params, given);
    if (json === null) return null;
    const header = parseHeader(json);
    if (at !== 'latest') checkIdentity(header, at);
    const { number, hash, parentHash, timestamp } = header;
    return { number, hash, parentHash, timestamp };
  }

  async function probe(upstream: Upstream): Promise<Head> {
    const announced = await upstream.refreshHead();
    const known = heads.get(upstream.name);
    const { learnedRate } = upstream.state;
    const checkMs = Math.max(HASH_CHECK_MS, learnedRate === null ? 0 : (HASH_CHECK_CALLS * 1_000) / learnedRate);
    if (known?.head.number === announced && clock.now() - known.at < checkMs) return known.head;
    const given = { rank: 'head' } as const;
    let head = await read(upstream, announced, given);
    if (head === null) {
      await clock.sleep(SECOND_LOOK_MS);
      head = await read(upstream, announced, given);
    }
    if (head === null) head = await readInsteadOfLie(upstream, announced, given);
    upstream.state.setServed(head.number);
    upstream.state.setHead(head.number);
    heads.set(upstream.name, { head, at: clock.now() });
    return head;
  }

  async function readInsteadOfLie(upstream: Upstream, announced: number, given: CallOptions): Promise<Head> {
    const lie = upstream.fault(
      'head-lie',
      'eth_blockNumber',
      `announced block ${announced} and answers null for it`,
    );
    const latest = await read(upstream, 'latest', given);
    if (latest !== null && latest.number < announced) return latest;
    const served = await stepBack(upstream, announced, given);
    if (served !== null) return served;
    const known = heads.get(upstream.name)?.head;
    if (known !== undefined && known.number < announced) upstream.state.setHead(known.number);
    throw lie;
  }

  /** In case `latest` is wrong too; null if too far. */
  async function stepBack(upstream: Upstream, announced: number, given: CallOptions): Promise<Head | null> {
    let missing = announced;
    let found: Head | null = null;
    for (let step = 1; found === null && step <= Math.min(STEP_BACK_MAX, announced); step *= 2) {
      found = await read(upstream, announced - step, given);
      if (found === null) missing = announced - step;
    }
    while (found !== null && missing - found.number > 1) {
      const middle = Math.floor((found.number + missing) / 2);
      const between = await read(upstream, middle, given);
      if (between === null) missing = middle;
      else found = between;
    }
    return found;
  }

  return {
    ask(upstream) {
      const shared = running.get(upstream.name);
      if (shared !== undefined) return shared;
      const started = probe(upstream)
        .catch((error: unknown) => {
          if (!(error instanceof MalformedAnswerError)) throw error;
          throw upstream.fault('malformed', 'eth_getBlockByNumber', error.message);
        })
        .finally(() => running.delete(upstream.name));
      running.set(upstream.name, started);
      return started;
    },
    last: (name) => heads.get(name)?.head,
  };
}
