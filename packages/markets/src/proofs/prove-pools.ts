import { ChainsteadError, type Hex } from '@chainstead/core';
import { type StateAt, stateAt } from '@chainstead/node-reads';
import { type ProofCall, type ProofSteps, proofSteps } from './pool-proof-steps.ts';
import type { PoolVerdict, ProofContext, SeenPool } from './pool-verdict.ts';
import { searchCreations } from './search-creations.ts';

/** More than any getter returns that is read here. */
const ANSWER_BYTES_MAX = 512;

/**
 * Asks the known exchanges of a chain to acknowledge pools, in the state of one block by hash, a hundred calls per Multicall3 call.
 * Pools that no getter decides are searched for in the creation events of their factory, as far back as a few hundred calls reach.
 * One pool that reverts, burns all gas or returns garbage doesn't change the verdicts of others.
 * @returns verdicts in the order of `seen`; pools whose proof no node could read are `unread`
 * @throws RequestAbortedError if the signal ends it
 */
export async function provePools(
  seen: readonly SeenPool[],
  context: ProofContext,
  signal: AbortSignal,
): Promise<PoolVerdict[]> {
  const { chain, upstreams, exchanges, block } = context;
  const state = stateAt(upstreams, chain, block, { answerBytesMax: ANSWER_BYTES_MAX });
  const proofs = seen.map((one) => proofSteps(one, exchanges));
  const verdicts = await takeSteps(proofs, (calls) => callTogether(state, calls, signal));
  const created = await searchCreations(seen, verdicts, context, signal);
  return verdicts.map((verdict, place) => created.get(place) ?? verdict);
}

/** Data, null for a call that reverted, or why no node returned its result. */
type CallResult = Hex | null | ChainsteadError;

/** All proofs in step, so that each round of calls is made together. */
async function takeSteps(
  proofs: readonly ProofSteps[],
  call: (calls: readonly ProofCall[]) => Promise<readonly CallResult[]>,
): Promise<PoolVerdict[]> {
  const steps = proofs.map((proof) => proof.next());
  for (;;) {
    const calls = steps.map((step) => (step.done === true ? [] : step.value));
    const verdicts = steps.flatMap((step) => (step.done === true ? step.value : []));
    if (verdicts.length === proofs.length) return verdicts;
    const results = (await call(calls.flat())).values();
    for (const [place, proof] of proofs.entries()) {
      if (steps[place]?.done === true) continue;
      const own = (calls[place] ?? []).map(() => results.next().value ?? null);
      steps[place] = nextStep(proof, own);
    }
  }
}

function nextStep(proof: ProofSteps, results: readonly CallResult[]): ReturnType<ProofSteps['next']> {
  const reason = results.find((result) => result instanceof ChainsteadError);
  if (reason !== undefined) return proof.return({ verdict: 'unread', reason });
  return proof.next(results.map((result) => (typeof result === 'string' ? result : null)));
}

/** A failure of all calls is one of each: the proofs end as `unread`. */
async function callTogether(
  state: StateAt,
  calls: readonly ProofCall[],
  signal: AbortSignal,
): Promise<readonly CallResult[]> {
  try {
    const answers = await state.fetchTogether(calls, signal);
    return answers.map(({ data, unread }) => unread ?? (data === null ? null : (data.toLowerCase() as Hex)));
  } catch (error) {
    if (signal.aborted || !(error instanceof ChainsteadError)) throw error;
    return calls.map(() => error);
  }
}
