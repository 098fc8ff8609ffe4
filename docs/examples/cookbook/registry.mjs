// The client of the recipes, for Node.js 22.13 or later. On a server, the store is a table of the shop's own database.
import { DatabaseSync } from 'node:sqlite';
import { createRegistryClient } from '@node-registry/registry-client';

const database = new DatabaseSync(process.env.DATABASE ?? 'shop.db');
database.exec('create table if not exists film_order (name text primary key, record text not null)');
const find = database.prepare('select record from film_order where name = ?');
const keep = database.prepare(
  'insert into film_order values (?, ?) on conflict do update set record = excluded.record',
);
const open = database.prepare("select name from film_order where record ->> 'state' in ('sent', 'started')");

export const openOrders = () => open.all().map(({ name }) => name);

export const registry = createRegistryClient({
  baseUrl: process.env.REGISTRY ?? 'http://localhost:3000',
  accessToken: () => process.env.ACCESS_TOKEN ?? '',
  orders: {
    read: (order) => JSON.parse(find.get(order)?.record ?? 'null'),
    write: (record) => keep.run(record.order, JSON.stringify(record)),
  },
});
