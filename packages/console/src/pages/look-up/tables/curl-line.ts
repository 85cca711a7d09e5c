/**
 * A line for a shell that asks the same of the data API. Everything in it that anybody may have chosen stands between single quotes.
 * @param origin of this server
 * @param target path and query
 */
export function curlLine(origin: string, target: string): string {
  return `curl -H "X-API-Key: $CHAINSTEAD_KEY" ${quoted(`${origin}${target}`)}`;
}

/** The same of the JSON-RPC gateway. @param address up to the key */
export function rpcCurlLine(address: string, method: string, params: readonly unknown[]): string {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
  return `curl -H 'content-type: application/json' -d ${quoted(body)} ${quoted(address)}"$CHAINSTEAD_KEY"`;
}

/** Nothing between single quotes means anything to a shell but the quote. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
