import { html } from 'hono/html';
import { type ConsoleRequest, type ConsoleRoutes, type ConsoleServices, jsonFile } from '../../console-page.ts';
import type { Html } from '../../layout/html.ts';
import { chainNamed } from './subjects.ts';
import { resultOf } from './tables/data-table.ts';

/** From the widest to the narrowest; the first with enough candles is shown. */
const TIMEFRAMES = [
  { timeframe: '1d', seconds: 86_400 },
  { timeframe: '1h', seconds: 3_600 },
  { timeframe: '1min', seconds: 60 },
] as const;
const CANDLES_MAX = 100;
const CANDLES_MIN = 24;
/** Empty places before the first candle. */
const PADDING = 4;
const POOL = /^0x(?:[0-9a-f]{40}|[0-9a-f]{64}|[0-9a-f]{104})$/i;
const FIELDS = ['open', 'high', 'low', 'close', 'volume'] as const;

/** Prices in US dollars, as the API returns them. */
export function addCandleRoutes(routes: ConsoleRoutes, services: ConsoleServices): void {
  const { explorer, clock } = services;
  routes.view('/look-up/candles.json', async (request) => {
    const chain = chainNamed(services, request.query('chain'));
    const pool = request.query('pool') ?? '';
    const plot = POOL.test(pool) ? await readPlot(request, chain.key, pool) : EMPTY;
    return jsonFile(plot);
  });

  async function readPlot({ asker }: ConsoleRequest, chain: string, pool: string): Promise<CandlePlot> {
    let plot = EMPTY;
    for (const { timeframe, seconds } of TIMEFRAMES) {
      const to = Math.ceil(clock.now() / 1_000 / seconds) * seconds;
      const from = to - CANDLES_MAX * seconds;
      const [fromDate, toDate] = [from, to].map((time) => new Date(time * 1_000).toISOString()) as [
        string,
        string,
      ];
      const query = { chain, timeframe, currency: 'usd', limit: String(CANDLES_MAX), fromDate, toDate };
      const target = `/api/v2.2/pairs/${pool}/ohlcv?${new URLSearchParams(query)}`;
      const { status, body } = await explorer.data.get(target, asker);
      const found = status === 200 ? plotOf(body, timeframe, { from, to, seconds }) : EMPTY;
      if (found.times.length > plot.times.length) plot = found;
      if (plot.times.length >= CANDLES_MIN) break;
    }
    return plot;
  }
}

export function candlePlot(chain: string, pool: string): Html {
  const query = new URLSearchParams({ chain, pool });
  return html`<section aria-labelledby="candles-${pool}"><h3 id="candles-${pool}">Prices and volume</h3>
<div class="card plot" data-plot="/console/look-up/candles.json?${query}">The plot needs JavaScript. The API has its numbers: <code>/api/v2.2/pairs/${pool}/ohlcv?chain=${chain}&timeframe=1h&currency=usd</code>, with <code>fromDate</code> and <code>toDate</code>.</div></section>`;
}

interface CandlePlot {
  readonly candles: true;
  readonly labels: readonly string[];
  readonly unit: string;
  /** Seconds, oldest first. */
  readonly times: readonly number[];
  readonly range: readonly [from: number, to: number];
  /** Null: unknown, such as the volume of trades without a value. */
  readonly values: readonly (readonly (number | null)[])[];
}

const EMPTY: CandlePlot = { candles: true, labels: [], unit: '', times: [], range: [0, 0], values: [] };

function plotOf(
  body: unknown,
  timeframe: string,
  { from, to, seconds }: { readonly from: number; readonly to: number; readonly seconds: number },
): CandlePlot {
  // Without a price in dollars, a candle has none.
  const candles = resultOf(body)
    .filter(({ close }) => close !== null)
    .toReversed();
  const times = candles.map(({ timestamp }) => Date.parse(String(timestamp)) / 1_000);
  const valuesOf = (field: string) =>
    candles.map(({ [field]: value }) => (value === null ? null : Number(value)));
  return {
    ...{ candles: true, unit: 'USD', times, values: FIELDS.map(valuesOf) },
    labels: [...FIELDS.slice(0, -1), `volume in ${timeframe}`],
    range: [Math.max(from, (times[0] ?? from) - PADDING * seconds), to],
  };
}
