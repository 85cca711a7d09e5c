/**
 * One HTTP exchange with a configured upstream, and what its failures mean. Start reading at http-exchange.ts.
 */
export { basicAuthorization } from './basic-authorization.ts';
export { createHttpExchange, type HttpAnswer, type HttpExchange, isLocal } from './http-exchange.ts';
export { isStaleConnection, TransportError, type TransportFault, toTransportError } from './transport-error.ts';
