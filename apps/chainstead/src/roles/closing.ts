export interface Closing {
  /** In reverse order. */
  defer(step: () => unknown): void;
  /** All steps, once. @throws the error of a step, or an `AggregateError` */
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
