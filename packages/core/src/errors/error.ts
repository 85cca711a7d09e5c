/** The members of every Chainstead error: facts instead of prepared sentences, and the remedy. */
export interface ErrorFacts {
  /** Stable, upper-case, documented in docs/reference/errors.md. */
  readonly code: string;
  /** One sentence: the action, its object and the result. */
  readonly message: string;
  /** The values in the sentence. Never a secret: upstream URLs as host names, no keys. */
  readonly facts?: Readonly<Record<string, unknown>>;
  /** Remedy for the reader. */
  readonly remedy?: string;
  /** Whether a retry may succeed. */
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

/** Returns the text of any thrown value. */
export function errorText(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}
