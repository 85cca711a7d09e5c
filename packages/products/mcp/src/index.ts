/**
 * Tools for agents over the Model Context Protocol, on the routes of the API. Start reading at serving/mcp-route.ts.
 * Imports core, db and http.
 */

export { mcpRoute } from './serving/mcp-route.ts';
export { remoteToolbox } from './serving/remote-toolbox.ts';
export { serveOverStdio } from './serving/serve-stdio.ts';
export { openSqlReader } from './sql/sql-reader.ts';
export type { Progress } from './tools/progress-tools.ts';
