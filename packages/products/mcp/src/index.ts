/** Tools for agents over the Model Context Protocol. Start reading at serving/mcp-route.ts. */

export { mcpRoute } from './serving/mcp-route.ts';
export { serveOverStdio } from './serving/mcp-server.ts';
export { remoteToolbox } from './serving/remote-toolbox.ts';
export { openSqlReader, type SqlReader } from './sql/sql-reader.ts';
export { SqlRefusalError } from './sql/sql-refusal.ts';
export type { Progress } from './tools/progress-tools.ts';
