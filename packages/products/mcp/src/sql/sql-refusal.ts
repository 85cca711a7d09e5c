import { ChainsteadError } from '@chainstead/core';

export class SqlRefusalError extends ChainsteadError {
  readonly advice: string;

  constructor(code: SqlRefusalCode, message: string, advice: string) {
    super({ code, message, retryable: code === 'SQL_BUSY' || code === 'SQL_UNAVAILABLE' });
    this.advice = advice;
  }
}

export type SqlRefusalCode = 'SQL_BUSY' | 'SQL_REFUSED' | 'SQL_ROLE_UNSAFE' | 'SQL_TIMEOUT' | 'SQL_UNAVAILABLE';
