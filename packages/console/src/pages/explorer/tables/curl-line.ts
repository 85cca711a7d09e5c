/**
 * Returns a shell line that sends the same request to the data API. All user-controlled text is between single quotes.
 * @param origin of this server
 * @param target path and query
 */
export function curlLine(origin: string, target: string): string {
  return `curl -H "X-API-Key: $CHAINSTEAD_KEY" ${quoted(`${origin}${target}`)}`;
}

/** The same for the JSON-RPC gateway. @param address URL up to the key */
export function rpcCurlLine(address: string, method: string, params: readonly unknown[]): string {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
  return `curl -H 'content-type: application/json' -d ${quoted(body)} ${quoted(address)}"$CHAINSTEAD_KEY"`;
}

/** Between single quotes, only the quote itself has a meaning to a shell. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
