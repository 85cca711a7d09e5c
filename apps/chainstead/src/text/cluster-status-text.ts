import type { ClusterSummary } from '@chainstead/db/server';

const TABLES_MAX = 12;

export function renderCluster(cluster: ClusterSummary | null): string[] {
  if (cluster === null) return [];
  const { nodes, tables, away, waiting } = cluster;
  const lines = [
    ...nodes.map(({ node, shards, bytes }) => `${node}: ${shards} shards, ${sizeText(bytes)}`),
    ...away.map(({ node, reason }) => `${node} does not respond and is not counted: ${reason.trim()}`),
    ...tables
      .slice(0, TABLES_MAX)
      .map(
        ({ table, shards, bytes, skew }) =>
          `${table}: ${shards} shards, ${sizeText(bytes)}, the largest ${skew.toFixed(2)} times the average`,
      ),
  ];
  const more = tables.length - TABLES_MAX;
  if (more > 0) lines.push(`and ${more} smaller tables`);
  if (waiting.length > 0) lines.push(`not distributed yet (run "chainstead distribute"): ${waiting.join(', ')}`);
  return [`${['cluster', ...lines.map((line) => `    ${line}`)].join('\n')}\n`];
}

const UNITS = ['B', 'kB', 'MB', 'GB', 'TB', 'PB'];

export function sizeText(bytes: number): string {
  const power = bytes < 1 ? 0 : Math.min(Math.floor(Math.log(bytes) / Math.log(1_024)), UNITS.length - 1);
  const value = bytes / 1_024 ** power;
  return `${power === 0 ? value : value.toFixed(1)} ${UNITS[power]}`;
}
