/** HTTP exchange with an upstream, and its failures. Start reading at http-exchange.ts. */
export {
  backOffMs,
  basicAuthorization,
  createHttpExchange,
  type HttpAnswer,
  isLocal,
  isStaleConnection,
  parseRetryAfter,
  TransportError,
  toTransportError,
} from './http-exchange.ts';
