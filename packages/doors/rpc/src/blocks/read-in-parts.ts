import { createAnswerBudget, type Hash } from '@chainstead/core';
import PQueue from 'p-queue';
import { anySignal } from '../aborting.ts';
import { BlockTooLargeError, isAboutSize, RequestAbortedError, UpstreamFault } from '../errors.ts';
import { rankPriority } from '../limits/limiters.ts';
import type { CallOptions } from '../transport/rpc-exchange.ts';
import type { Upstream } from '../upstream/upstream.ts';
import { TransportError } from '../upstream-http/index.ts';

export interface SizedReading {
  readonly chain: { readonly key: string };
  readonly upstream: Upstream;
  readonly given: CallOptions;
  readonly size: BlockSize;
}

export class BlockSize {
  readonly #at: number | Hash;
  readonly #bytesMax: number;
  readonly #isCallers: boolean;
  #bytes = 0;

  /** @param bytesMax the caller's; undefined: the largest block that is read at all */
  constructor(at: number | Hash, { limits }: Pick<Upstream, 'limits'>, bytesMax: number | undefined) {
    this.#at = at;
    this.#isCallers = bytesMax !== undefined && bytesMax < limits.responseBytesMax;
    this.#bytesMax = bytesMax ?? limits.blockBytesMax;
  }

  get bytesLeft(): number {
    return this.#bytesMax - this.#bytes;
  }

  add(bytes: number): void {
    this.#bytes += bytes;
  }

  mayBeCut(error: UpstreamFault): boolean {
    const { cause } = error.hints;
    return !(this.#isCallers && cause instanceof TransportError && cause.kind === 'too-large');
  }

  refusal({ chain, upstream }: Pick<SizedReading, 'chain' | 'upstream'>, method: string): Error {
    const error = new BlockTooLargeError({ chain: chain.key, block: this.#at, bytes_max: this.#bytesMax });
    if (this.#isCallers) return error;
    const hints = { reaction: 'batch-size', cause: error } as const;
    return new UpstreamFault({
      upstream: upstream.name,
      method,
      kind: 'range-limit',
      text: error.message,
      hints,
    });
  }
}

/** One block at a time in the process bounds memory. */
const turns = new PQueue({ concurrency: 1 });
const REQUESTS_IN_FLIGHT = 4;
const BYTES_IN_FLIGHT = 32 * 1024 * 1024;

/** A part above the response limit is read alone. @throws UpstreamFault, BlockTooLargeError */
export async function readInParts(
  reading: SizedReading,
  method: string,
  hashes: readonly Hash[],
): Promise<unknown[]> {
  if (hashes.length === 0) return [];
  const { signal, rank } = reading.given;
  const priority = rankPriority(rank);
  try {
    return await turns.add(() => readEach(reading, method, hashes), { priority, ...(signal ? { signal } : {}) });
  } catch (error) {
    if (signal?.aborted) throw new RequestAbortedError(method, error);
    throw error;
  }
}

async function readEach(reading: SizedReading, method: string, hashes: readonly Hash[]): Promise<unknown[]> {
  const { upstream, given, size } = reading;
  const { responseBytesMax, heavyTimeoutMs } = upstream.limits;
  const budget = createAnswerBudget({ bytesMax: BYTES_IN_FLIGHT, requestsMax: REQUESTS_IN_FLIGHT });
  const results = new Array<unknown>(hashes.length);
  const alone: number[] = [];
  const failing = new AbortController();
  const signal = anySignal(failing.signal, given.signal);
  const read = async (index: number, bytesMax: number): Promise<void> => {
    const options = { ...given, timeoutMs: given.timeoutMs ?? heavyTimeoutMs, signal, bytesMax };
    const { result, bytes } = await upstream.callSized(method, [hashes[index]], options);
    budget.observe(bytes);
    size.add(bytes);
    if (size.bytesLeft < 0) throw size.refusal(reading, method);
    results[index] = result;
  };
  const readTogether = async (index: number): Promise<void> => {
    signal.throwIfAborted();
    try {
      await read(index, Math.min(responseBytesMax, size.bytesLeft));
    } catch (error) {
      if (!isAboutSize(error) || error.hints.cause instanceof BlockTooLargeError) throw error;
      alone.push(index);
    }
  };
  try {
    await Promise.all(hashes.map((_, index) => budget.run(() => readTogether(index))));
  } catch (error) {
    failing.abort(error);
    throw error;
  }
  for (const index of alone)
    try {
      await read(index, size.bytesLeft);
    } catch (error) {
      throw isAboutSize(error) ? size.refusal(reading, method) : error;
    }
  return results;
}
