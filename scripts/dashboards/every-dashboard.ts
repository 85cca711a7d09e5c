import { api } from './api.ts';
import { chains } from './chains.ts';
import type { Dashboard } from './dashboard.ts';
import { overview } from './overview.ts';
import { storage } from './storage.ts';
import { work } from './work.ts';

/** The dashboards of docs/grafana/dashboards, each under the name of its uid. */
export const everyDashboard: readonly Dashboard[] = [overview, chains, api, work, storage];
