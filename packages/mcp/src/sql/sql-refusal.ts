import { ChainsteadError } from '@chainstead/core';

/** A statement that was not run, or not to its end. */
export class SqlRefusalError extends ChainsteadError {
  /** For the agent. */
  readonly advice: string;

  constructor(code: SqlRefusalCode, message: string, advice: string) {
    super({ code, message, retryable: code === 'SQL_BUSY' || code === 'SQL_UNAVAILABLE' });
    this.advice = advice;
  }
}

export type SqlRefusalCode = 'SQL_BUSY' | 'SQL_REFUSED' | 'SQL_ROLE_UNSAFE' | 'SQL_TIMEOUT' | 'SQL_UNAVAILABLE';
