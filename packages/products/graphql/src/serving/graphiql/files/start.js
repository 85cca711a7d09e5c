/** Shows GraphiQL with operations over this server: queries as JSON, subscriptions as server-sent events. */
const { React, ReactDOM, GraphiQL } = globalThis;

const { endpoint, token, chain = 'eth' } = document.body.dataset;

const EXAMPLE = `# Press Ctrl+Enter to run the query.
# With keys, write into the tab "Headers" (not in the console):
# {"X-API-Key": "…"}
{
  analytics_blocks(chain: "${chain}", first: 5) {
    nodes { block_number block_hash block_time }
    totalCount { count isExact }
  }
}
`;

/** In the console, an operation is a form of its session. */
function formOf({ query, variables, operationName }) {
  const fields = { query, ...(operationName && { operationName }) };
  return new URLSearchParams(variables ? { ...fields, variables: JSON.stringify(variables) } : fields);
}

async function send(request, headers, accept) {
  const sent =
    token === undefined
      ? { headers: { ...headers, 'content-type': 'application/json', accept }, body: JSON.stringify(request) }
      : { headers: { 'x-console-token': token, accept }, body: formOf(request) };
  const response = await fetch(endpoint, { method: 'POST', ...sent });
  if (!response.headers.get('content-type')?.startsWith('text/event-stream'))
    return { result: await response.json() };
  return { events: response.body };
}

/** Yields the results of a stream of events. */
async function* read(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  try {
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      text += part.value;
      const events = text.split('\n\n');
      text = events.pop();
      for (const event of events) {
        if (event.startsWith('event: complete')) return;
        const data = event.split('\n').find((line) => line.startsWith('data: '));
        if (event.startsWith('event: next') && data !== undefined) yield JSON.parse(data.slice('data: '.length));
      }
    }
  } finally {
    await reader.cancel();
  }
}

async function* subscribe(request, headers) {
  const { result, events } = await send(request, headers, 'text/event-stream');
  if (events === undefined) yield result;
  else yield* read(events);
}

function isSubscription({ documentAST }, name) {
  const operations = documentAST?.definitions.filter(({ kind }) => kind === 'OperationDefinition') ?? [];
  const chosen = operations.find((one) => one.name?.value === name) ?? operations[0];
  return chosen?.operation === 'subscription';
}

async function fetcher(request, options = {}) {
  if (isSubscription(options, request.operationName)) return subscribe(request, options.headers);
  return (await send(request, options.headers, 'application/json')).result;
}

const root = ReactDOM.createRoot(document.getElementById('graphiql'));
root.render(React.createElement(GraphiQL, { fetcher, defaultQuery: EXAMPLE, shouldPersistHeaders: false }));
