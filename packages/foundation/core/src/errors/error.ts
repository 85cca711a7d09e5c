export interface ErrorFacts {
  /** Stable, documented in docs/reference/errors.md. */
  readonly code: string;
  readonly message: string;
  /** Never a secret: upstream URLs as host names, no keys. */
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

/** Defaults: `facts` the first argument if a plain object, `retryable` false. */
type ErrorParts = Omit<ErrorFacts, 'code' | 'retryable'> & { readonly retryable?: boolean };

/** @example class GoneError extends defineError(code, (name: string) => ({ message: `…` })) {} */
export function defineError<Args extends readonly unknown[]>(
  code: string,
  describe: (...args: Args) => ErrorParts,
): new (
  ...args: Args
) => ChainsteadError {
  return class extends ChainsteadError {
    constructor(...args: Args) {
      const [first] = args;
      const isPlain =
        typeof first === 'object' && first !== null && Object.getPrototypeOf(first) === Object.prototype;
      super({ code, facts: isPlain ? { ...first } : {}, retryable: false, ...describe(...args) });
    }
  };
}
