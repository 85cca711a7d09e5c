/** Requests of applications at any moment: derived state begins with the first of them. */
import { errorText } from '@chainstead/core';
import type { StoryApi } from './api.ts';

export interface Questions {
  /** Leaves one; what becomes of it is looked at when it comes. */
  ask(): void;
  /** Waits for all answers. */
  settle(): Promise<void>;
  readonly requested: number;
  /** What no answer may be, whatever the moment; null for nothing. */
  readonly failure: string | null;
}

const AT_ONCE = 6;

/**
 * @param drawPath below `/api/v2.2/`
 * @param statuses while blocks come and go, processes end and connections break, it may say that it can't answer now, and has to be asked again
 * @param wrongIn what is wrong in an answer, whatever the moment; null for nothing
 */
export function openQuestions(
  api: StoryApi,
  drawPath: () => string,
  statuses: ReadonlySet<number>,
  wrongIn: (body: unknown) => string | null,
): Questions {
  const open = new Set<Promise<void>>();
  let requested = 0;
  let failure: string | null = null;

  async function fetchOne(path: string): Promise<void> {
    try {
      const { status, body } = await api.ask(path);
      if (!statuses.has(status)) failure ??= `${path} is answered with ${status} ${JSON.stringify(body)}`;
      const wrong = status === 200 ? wrongIn(body) : null;
      if (wrong !== null) failure ??= `${path} has ${wrong}: ${JSON.stringify(body)}`;
    } catch (error) {
      // There is no listener while the API process is killed and started again.
      if (!(error instanceof TypeError) && !(error instanceof SyntaxError))
        failure ??= `${path}: ${errorText(error)}`;
    }
  }

  return {
    ask() {
      if (open.size >= AT_ONCE) return;
      requested++;
      const answered = fetchOne(drawPath());
      open.add(answered);
      void answered.finally(() => open.delete(answered));
    },
    settle: async () => {
      await Promise.all(open);
    },
    get requested() {
      return requested;
    },
    get failure() {
      return failure;
    },
  };
}
