import { html } from 'hono/html';
import { type Html, shown } from '../../layout/html.ts';
import { count } from '../../layout/numbers.ts';
import type { ChainFacts } from '../overview/read-overview.ts';
import type { NodeAddress } from '../upstreams/node-address.ts';

interface Node {
  readonly name: string;
  readonly state: string;
  readonly reason: string | null;
  readonly head: number | null;
  readonly latency: string;
  readonly requests: number;
  readonly faults: Readonly<Partial<Record<string, number>>>;
}

/** The nodes of a chain, as the process that ingests it sees them. */
export function nodesView(facts: ChainFacts, addressOf: NodeAddress): Html {
  const nodes = nodesOf(facts).map((node) => ({
    ...node,
    name: addressOf({ chain: facts.card.name, upstream: node.name }),
  }));
  const listed = nodes.length === 0 ? html`<p class="soft">No node has been reported yet.</p>` : nodesTable(nodes);
  return html`<section aria-labelledby="nodes"><h2 id="nodes">Nodes</h2>${listed}</section>`;
}

function nodesTable(nodes: readonly Node[]): Html {
  const rows = nodes.map(
    ({
      name,
      state,
      reason,
      head,
      latency,
      requests,
      faults,
    }) => html`<tr><td>${shown(name)}</td><td>${shown(state)}${reason === null ? '' : html`: ${shown(reason, 300)}`}</td>
<td class="number">${head === null ? '–' : count(head)}</td><td class="number">${latency}</td><td class="number">${count(requests)}</td><td>${shown(faultsText(faults), 300)}</td></tr>`,
  );
  return html`<div class="table" tabindex="0" role="region" aria-label="Nodes"><table><caption>As the process that ingests the chain sees them</caption>
<thead><tr><th scope="col">Node</th><th scope="col">State</th><th scope="col" class="number">Head</th><th scope="col" class="number">Latency, half and 95 %</th><th scope="col" class="number">Requests</th><th scope="col">Faults</th></tr></thead><tbody>${rows}</tbody></table></div>`;
}

function nodesOf(facts: ChainFacts): Node[] {
  if (facts.kind === 'aptos') return facts.status.fullnodes.map((fullnode) => ({ ...fullnode, latency: '–' }));
  return facts.status.upstreams.map((upstream) => {
    const { p50, p95 } = upstream.latencyMs;
    return { ...upstream, latency: `${Math.round(p50)} / ${Math.round(p95)} ms` };
  });
}

function faultsText(faults: Node['faults']): string {
  return (
    Object.entries(faults)
      .map(([kind, times]) => `${kind} ${times}`)
      .join(', ') || 'none'
  );
}
