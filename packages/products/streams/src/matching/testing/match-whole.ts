import type { Match, Sliced } from '../match.ts';
import { matchBlock } from '../match-block.ts';

/** Without pauses. */
export function whole<T>(work: Sliced<T>): T {
  for (;;) {
    const step = work.next();
    if (step.done === true) return step.value;
  }
}

export function matchWhole(...given: Parameters<typeof matchBlock>): readonly Match[] {
  return whole(matchBlock(...given)).matches;
}
