import { ChainsteadError, type Hex } from '@chainstead/core';
import { type StateAt, stateAt } from '@chainstead/node-reads';
import { type ProofCall, type ProofSteps, proofSteps } from './pool-proof-steps.ts';
import type { PoolVerdict, ProofContext, SeenPool } from './pool-verdict.ts';
import { searchCreations } from './search-creations.ts';

const ANSWER_BYTES_MAX = 512;

/** By the state of one block; `unread`: no node could read it. One bad pool spoils no other. */
export async function provePools(
  seen: readonly SeenPool[],
  context: ProofContext,
  signal: AbortSignal,
): Promise<PoolVerdict[]> {
  const { chain, upstreams, exchanges, block } = context;
  const state = stateAt(upstreams, chain, block, { answerBytesMax: ANSWER_BYTES_MAX });
  const proofs = seen.map((pool) => proofSteps(pool, exchanges));
  const verdicts = await takeSteps(proofs, (calls) => callTogether(state, calls, signal));
  const created = await searchCreations(seen, verdicts, context, signal);
  return verdicts.map((verdict, index) => created.get(index) ?? verdict);
}

type CallResult = Hex | null | ChainsteadError;

/** In step, so that each round of calls is made together. */
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
    for (const [index, proof] of proofs.entries()) {
      if (steps[index]?.done === true) continue;
      const own = (calls[index] ?? []).map(() => results.next().value ?? null);
      const reason = own.find((result) => result instanceof ChainsteadError);
      if (reason !== undefined) steps[index] = proof.return({ verdict: 'unread', reason });
      else steps[index] = proof.next(own.map((result) => (typeof result === 'string' ? result : null)));
    }
  }
}

/** A failure of all calls is one of each: the proofs end as `unread`. */
async function callTogether(state: StateAt, calls: readonly ProofCall[], signal: AbortSignal) {
  try {
    const answers = await state.fetchTogether(calls, signal);
    return answers.map(({ data, unread }) => unread ?? (data === null ? null : (data.toLowerCase() as Hex)));
  } catch (error) {
    if (signal.aborted || !(error instanceof ChainsteadError)) throw error;
    return calls.map(() => error);
  }
}
