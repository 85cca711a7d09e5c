import { ChainsteadError } from '@chainstead/core';

/** A request that is not run, or not to its end. Message and remedy reach the client. */
export class GraphqlRefusalError extends ChainsteadError {
  readonly sentence: string;

  constructor(code: GraphqlRefusalCode, message: string, remedy: string) {
    super({ code, message, remedy, retryable: code === 'GRAPHQL_BUSY' || code === 'GRAPHQL_UNAVAILABLE' });
    this.sentence = message;
  }
}

export interface ResultError {
  readonly message: string;
  readonly path?: readonly (string | number)[];
  readonly extensions: { readonly code: string; readonly remedy: string };
}

export function shownRefusal({ sentence, code, remedy }: GraphqlRefusalError): ResultError {
  return { message: sentence, extensions: { code, remedy: remedy ?? '' } };
}

/** Never sent: the client left, or already has a response. */
export function requestEnded(): GraphqlRefusalError {
  return new GraphqlRefusalError('GRAPHQL_TIMEOUT', 'The request ended before the operation', 'Send it again.');
}

export function resultTooLarge(bytesMax: number): GraphqlRefusalError {
  return new GraphqlRefusalError(
    'GRAPHQL_RESULT_TOO_LARGE',
    `The result has more than ${bytesMax} bytes`,
    'Request fewer rows with `first`, or fewer columns.',
  );
}

export type GraphqlRefusalCode =
  | 'GRAPHQL_ARGUMENT_INVALID'
  | 'GRAPHQL_BUSY'
  | 'GRAPHQL_FAILED'
  | 'GRAPHQL_INVALID'
  | 'GRAPHQL_RESULT_TOO_LARGE'
  | 'GRAPHQL_ROLE_UNSAFE'
  | 'GRAPHQL_SCHEMA_TOO_LARGE'
  | 'GRAPHQL_TIMEOUT'
  | 'GRAPHQL_TOO_COMPLEX'
  | 'GRAPHQL_UNAVAILABLE';
