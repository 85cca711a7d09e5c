/** HTTP exchange with an upstream, and its failures. Start reading at http-exchange.ts. */
export { backOffMs, parseRetryAfter } from './back-off.ts';
export { basicAuthorization } from './basic-authorization.ts';
export { createHttpExchange, type HttpAnswer, isLocal } from './http-exchange.ts';
export { isStaleConnection, TransportError, toTransportError } from './transport-error.ts';
