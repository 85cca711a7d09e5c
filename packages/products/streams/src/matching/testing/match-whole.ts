import type { Match } from '../match.ts';
import { matchBlock } from '../match-block.ts';

/** All slices of `matchBlock`. */
export function matchWhole(...given: Parameters<typeof matchBlock>): Match[] {
  const work = matchBlock(...given);
  for (;;) {
    const step = work.next();
    if (step.done === true) return step.value;
  }
}
