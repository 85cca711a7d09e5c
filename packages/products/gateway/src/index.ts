/** A chain's upstreams as one node that does not fail. Start with `gateway.ts` and `schema.ts`. */
export { createGateway, type Gateway } from './gateway.ts';
export { RESERVED_SEGMENTS } from './reserved-segments.ts';
export { createGatewayRoutes } from './routes.ts';
export type { CallDirectly, DirectAnswer } from './serving/call-directly.ts';
export {
  type GatewayUsage,
  type HourCalls,
  type MethodCalls,
  readGatewayUsage,
  readHourCalls,
  readMethodCalls,
} from './usage/read-calls.ts';
