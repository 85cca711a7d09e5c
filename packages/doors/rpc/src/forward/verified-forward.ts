import { isDoubtful, type Reaction, UpstreamFault, UpstreamsExhaustedError } from '../errors.ts';
import type { FailedAttempt, Failover, UpstreamOperation } from '../failover/failover.ts';
import { runNullable } from '../failover/nullable-operation.ts';
import type { RawCall, RawResult } from '../forwarding-pool.ts';
import type { HeadProbe } from '../heads/probe-head.ts';
import { EXECUTES } from '../transport/error-rules.ts';
import { asVerdict, Doubts, saysTheSame } from '../upstream/doubts.ts';
import type { Upstream } from '../upstream/upstream.ts';
import type { Answer, RequestOptions } from '../upstream-pool.ts';

export interface ForwardTools {
  readonly failover: Failover;
  readonly probe: HeadProbe;
  readonly bestHead: () => number | null;
  readonly isAlone: boolean;
  readonly nearBlocks: number;
}

/** A first attempt; `error` null: it returned null. */
export type Begun = FailedAttempt | { readonly upstream: Upstream; readonly error: null };

const ABOUT_THE_CALL: ReadonlySet<Reaction> = new Set(['range', 'density', 'beyond-head', 'missing-data']);
const UNREACHED_FITNESS = 0.2;
const NULL = Buffer.from('null');

export class VerifiedForward {
  readonly #tools: ForwardTools;
  readonly #call: RawCall;
  readonly #given: RequestOptions;
  readonly #first: Begun | undefined;
  readonly #doubts = new Doubts();

  constructor(tools: ForwardTools, call: RawCall, given: RequestOptions, first?: Begun) {
    this.#tools = tools;
    this.#call = call;
    this.#given = given;
    this.#first = first;
  }

  /** @throws as Failover.run */
  async run(): Promise<Answer<RawResult>> {
    const first = this.#first;
    if (first !== undefined && isDoubtful(first.error)) this.#doubts.add(first.upstream, first.error);
    try {
      return await (this.#call.nullable ? this.#forwardNullable() : this.#forwardOther());
    } finally {
      this.#doubts.count();
    }
  }

  async #forwardNullable(): Promise<Answer<RawResult>> {
    const { failover, isAlone } = this.#tools;
    const { method, block } = this.#call;
    const { minBlock = null, ...others } = this.#given;
    const needed = isAlone ? null : minBlock;
    const { value, upstream } = await runNullable<RawResult>(
      failover,
      {
        method,
        ...(block === null ? {} : { block }),
        ...fitness(this.#tools, highest(minBlock, block)),
        isOpen,
        patience: 1,
        run: (requested, signal) =>
          this.#attempt(requested, signal, needed).then((result) => (isNull(result) ? null : result)),
      },
      others,
      this.#first,
    );
    return { value: value ?? NULL, upstream };
  }

  async #forwardOther(): Promise<Answer<RawResult>> {
    const { failover, isAlone, bestHead, nearBlocks } = this.#tools;
    const { method, block } = this.#call;
    const { minBlock = null, ...others } = this.#given;
    const needed = isAlone ? null : highest(minBlock, block);
    let rounds = 0;
    let verdict: UpstreamFault | undefined;
    try {
      return await failover.run<RawResult>(
        {
          method,
          run: (upstream, signal) => this.#attempt(upstream, signal, needed),
          ...fitness(this.#tools, needed),
          isOpen,
          settled: (faults) => {
            rounds++;
            verdict = faults.find((fault) => fault.said !== undefined);
            if (isAgreed(method, faults, rounds)) {
              this.#doubts.clear();
              return true;
            }
            const mayCome = needed !== null && needed <= (bestHead() ?? 0) + nearBlocks;
            const isFinal = ({ hints: { reaction } }: UpstreamFault): boolean =>
              ABOUT_THE_CALL.has(reaction) && !(mayCome && reaction === 'beyond-head');
            return faults.every(isFinal);
          },
        },
        others,
        this.#first,
      );
    } catch (error) {
      if (!(error instanceof UpstreamsExhaustedError) || verdict === undefined) throw error;
      // A mere failure stays an exhaustion error.
      const isOfCall = ABOUT_THE_CALL.has(verdict.hints.reaction) || isDoubtful(verdict);
      throw (isOfCall ? asVerdict(verdict, 'call') : null) ?? error;
    }
  }

  async #attempt(upstream: Upstream, signal: AbortSignal | undefined, needed: number | null): Promise<RawResult> {
    const { method } = this.#call;
    if (needed !== null && reached(upstream) < needed)
      await requireReached(this.#tools.probe, upstream, method, needed);
    try {
      return await upstream.forward(this.#call, { signal, timeoutMs: this.#given.timeoutMs });
    } catch (error) {
      if (!isDoubtful(error)) throw error;
      this.#doubts.add(upstream, error);
      if (!EXECUTES.test(method) || !this.#doubts.isRepeated) throw error;
      this.#doubts.clear();
      throw asVerdict(error, 'execution') ?? error;
    }
  }
}

async function requireReached(
  probe: HeadProbe,
  upstream: Upstream,
  method: string,
  block: number,
): Promise<void> {
  const { number } = await probe.ask(upstream);
  if (number >= block) return;
  const text = `has only reached block ${number}`;
  const hints = { reaction: 'beyond-head' } as const;
  throw new UpstreamFault({ upstream: upstream.name, method, kind: 'lagging', text, hints });
}

export function fitness(
  { isAlone }: Pick<ForwardTools, 'isAlone'>,
  block: number | null,
): Pick<UpstreamOperation<unknown>, 'fitness'> {
  if (block === null || isAlone) return {};
  return {
    fitness: ({ state }) => ((state.served ?? -1) >= block && !state.lacksHistory(block) ? 1 : UNREACHED_FITNESS),
  };
}

export function reached({ state: { served, head } }: Upstream): number {
  return served === null || head === null ? -1 : Math.min(served, head);
}

export function highest(a: number | null, b: number | null): number | null {
  return a === null || b === null ? (a ?? b) : Math.max(a, b);
}

export function isNull(result: RawResult): boolean {
  return Buffer.isBuffer(result) && result.length === 4 && result[0] === 0x6e;
}

function isOpen(result: RawResult): boolean {
  return !Buffer.isBuffer(result);
}

/** An error is the call's if several upstreams report it, or one repeats it. */
function isAgreed(method: string, faults: readonly UpstreamFault[], rounds: number): boolean {
  const [first] = faults;
  if (first === undefined || (faults.length === 1 && rounds < 2)) return false;
  return faults.every((fault) => isDoubtful(fault) && (EXECUTES.test(method) || saysTheSame(fault, first)));
}
