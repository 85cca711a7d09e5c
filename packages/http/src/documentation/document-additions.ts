import { errorText, type Logger } from '@chainstead/core';
import { failureLevel } from '@chainstead/db';

export interface DocumentAdditions {
  /** Returns a text that changes with the operations. Called at most once per second. */
  readState(): Promise<string>;
  /** Returns a function that adds the operations to a document. Called after a change, and about once per minute. */
  read(): Promise<(document: object) => object>;
}

export const NO_ADDITIONS: DocumentAdditions = {
  readState: async () => '',
  read: async () => (document) => document,
};

const STATE_KEPT_MS = 1_000;

/** Returns a reader of the state up to a second old, or of the last known one while Postgres is unavailable. */
export function createStateReader({ readState }: DocumentAdditions, logger: Logger): () => Promise<string> {
  let known = '';
  let freshUntil = Number.NEGATIVE_INFINITY;
  let reading: Promise<string> | undefined;
  return async () => {
    if (performance.now() < freshUntil) return known;
    reading ??= readState().finally(() => {
      reading = undefined;
      freshUntil = performance.now() + STATE_KEPT_MS;
    });
    try {
      known = await reading;
    } catch (error) {
      logger[failureLevel(error)]({ error: errorText(error) }, 'Operations for the documentation could not be read');
    }
    return known;
  };
}
