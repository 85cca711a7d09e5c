/** Grafana's dashboards as short tables; `npm run generate` writes them as the JSON that Grafana reads. */

/** A page of panels. */
export interface Dashboard {
  /** In its URL; stays the same when the title changes. */
  readonly uid: string;
  readonly title: string;
  readonly rows: readonly Row[];
}

interface Row {
  readonly title: string;
  readonly panels: readonly Panel[];
}

/** Values of the moment (`stat`) or curves (`time`). */
interface Panel {
  readonly kind: 'stat' | 'time';
  readonly title: string;
  /** What is shown, and what of it is a bad sign. */
  readonly about: string;
  readonly unit: Unit;
  /** An expression, and what its series are called. */
  readonly queries: readonly (readonly [expression: string, legend: string])[];
}

/** As Grafana calls them. */
type Unit = 'none' | 's' | 'bytes' | 'Bps' | 'ops' | 'reqps' | 'cps' | 'percentunit';

const COLUMNS = 24;
const SIZES = { stat: { w: 6, h: 5 }, time: { w: 8, h: 8 } } as const;
/** Of the variable that lets a dashboard be imported beside any Prometheus. */
// biome-ignore lint/suspicious/noTemplateCurlyInString: as Grafana reads it
const DATASOURCE = { type: 'prometheus', uid: '${datasource}' };

/** The JSON that Grafana imports. */
export function renderDashboard({ uid, title, rows }: Dashboard): string {
  const document = {
    uid,
    title,
    tags: ['chainstead'],
    timezone: 'utc',
    schemaVersion: 41,
    version: 1,
    refresh: '15s',
    time: { from: 'now-1h', to: 'now' },
    templating: {
      list: [
        {
          name: 'datasource',
          label: 'Prometheus',
          type: 'datasource',
          query: 'prometheus',
          current: { text: 'Prometheus', value: 'prometheus' },
        },
      ],
    },
    annotations: { list: [] },
    links: [{ title: 'Chainstead', type: 'dashboards', tags: ['chainstead'], asDropdown: true }],
    panels: placePanels(rows),
  };
  return `${JSON.stringify(document, null, 1)}\n`;
}

/** One below the other, each row of panels from left to right. */
function placePanels(rows: readonly Row[]): unknown[] {
  const placed: unknown[] = [];
  let y = 0;
  for (const { title, panels } of rows) {
    placed.push({
      id: placed.length + 1,
      type: 'row',
      title,
      collapsed: false,
      gridPos: { x: 0, y, w: COLUMNS, h: 1 },
      panels: [],
    });
    y += 1;
    let x = 0;
    let height = 0;
    for (const panel of panels) {
      const { w, h } = SIZES[panel.kind];
      if (x + w > COLUMNS) {
        y += height;
        x = 0;
        height = 0;
      }
      placed.push(renderPanel(panel, placed.length + 1, { x, y, w, h }));
      x += w;
      height = Math.max(height, h);
    }
    y += height;
  }
  return placed;
}

function renderPanel({ kind, title, about, unit, queries }: Panel, id: number, gridPos: object): unknown {
  return {
    id,
    title,
    type: kind === 'stat' ? 'stat' : 'timeseries',
    description: about,
    datasource: DATASOURCE,
    gridPos,
    fieldConfig: { defaults: { unit, min: 0 }, overrides: [] },
    targets: queries.map(([expr, legendFormat], index) => ({
      refId: String.fromCharCode('A'.charCodeAt(0) + index),
      expr,
      legendFormat,
      datasource: DATASOURCE,
    })),
  };
}
