export interface Closing {
  /** Adds a step. Steps run in reverse order. */
  defer(step: () => unknown): void;
  /** Runs every step, once. @throws the error of a failed step, an `AggregateError` if several failed */
  close(): Promise<void>;
}

export function createClosing(): Closing {
  const steps: (() => unknown)[] = [];
  return {
    defer: (step) => void steps.push(step),
    async close() {
      const errors: unknown[] = [];
      for (let step = steps.pop(); step !== undefined; step = steps.pop()) {
        try {
          await step();
        } catch (error) {
          errors.push(error);
        }
      }
      if (errors.length === 1) throw errors[0];
      if (errors.length > 1) throw new AggregateError(errors, 'Several parts of a role could not be closed');
    },
  };
}
