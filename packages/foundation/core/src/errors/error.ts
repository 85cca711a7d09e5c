/** The members of every Chainstead error: facts instead of prepared sentences, and the remedy. */
export interface ErrorFacts {
  /** Stable, upper-case, documented in docs/reference/errors.md. */
  readonly code: string;
  /** One sentence: the action, its object and the result. */
  readonly message: string;
  /** The values in the sentence. Never a secret: upstream URLs as host names, no keys. */
  readonly facts?: Readonly<Record<string, unknown>>;
  readonly remedy?: string;
  readonly retryable: boolean;
  readonly cause?: unknown;
}

export class ChainsteadError extends Error {
  readonly code: string;
  readonly facts: Readonly<Record<string, unknown>>;
  readonly remedy: string | undefined;
  readonly retryable: boolean;

  constructor(options: ErrorFacts) {
    super(
      options.remedy === undefined ? options.message : `${options.message}. ${options.remedy}`,
      options.cause === undefined ? undefined : { cause: options.cause },
    );
    this.name = new.target.name;
    this.code = options.code;
    this.facts = options.facts ?? {};
    this.remedy = options.remedy;
    this.retryable = options.retryable;
  }
}

export function errorText(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}

/** An error without its code. `facts` defaults to the first argument if it is a plain object, `retryable` to false. */
type ErrorParts = Omit<ErrorFacts, 'code' | 'retryable'> & { readonly retryable?: boolean };

/**
 * Returns the base of an error class: its constructor takes the arguments of `describe`.
 * @example class RangeTooLargeError extends defineError(code, (facts: { from: number; to: number }) => ({ message: `…` })) {}
 */
export function defineError<Args extends readonly unknown[]>(
  code: string,
  describe: (...args: Args) => ErrorParts,
): new (
  ...args: Args
) => ChainsteadError {
  return class extends ChainsteadError {
    constructor(...args: Args) {
      const [first] = args;
      const isPlain = typeof first === 'object' && first !== null && Object.getPrototypeOf(first) === Object.prototype;
      super({ code, facts: isPlain ? { ...first } : {}, retryable: false, ...describe(...args) });
    }
  };
}
