/** ISO 8601 UTC, whole seconds. @param seconds Unix time */
export function timestampText(seconds: number): string {
  return `${new Date(seconds * 1000).toISOString().slice(0, 19)}Z`;
}
