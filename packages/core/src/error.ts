/** What every error of Chainstead carries: facts instead of prepared sentences, and what may be done about it. */
export interface ErrorFacts {
  /** Stable, upper-case, documented in docs/errors.md. */
  readonly code: string;
  /** One sentence: what was tried, on what, and what came of it. */
  readonly message: string;
  /** The values behind the sentence. Never a secret: upstream URLs as host names, keys not at all. */
  readonly facts?: Readonly<Record<string, unknown>>;
  /** What the reader can do. */
  readonly remedy?: string;
  /** Whether the same thing tried again may succeed. */
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

/** The text of anything that was thrown. */
export function errorText(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}
