import { hash } from 'node:crypto';
import { foldNodeId } from './fold-node-id.ts';

/** Where the files of the index lie in the bucket. A node's id is folded, so that every spelling finds it. */

const root = 'index/v1/';

export const configPath = `${root}config.json`;

export function nodePath(nodeId: string): string {
  return `${root}nodes/${foldNodeId(nodeId)}.json`;
}

/** Of the files that a node has in addition. */
function nodeFolder(nodeId: string): string {
  return `${root}nodes/${foldNodeId(nodeId)}/`;
}

export function readmePath(nodeId: string): string {
  return `${nodeFolder(nodeId)}readme.json`;
}

export function hostNodesPath(nodeId: string, version: string): string {
  return `${nodeFolder(nodeId)}${version}/host-nodes.json`;
}

/** The number of pieces is part of the path, so a catalog of another size is written next to the one in use. */
export function catalogPath(pieces: number, piece: number): string {
  return `${root}catalog/${pieces}/${piece}.json`;
}

/** The most used nodes, which a reader shows first. */
export const topPath = `${root}top.json`;

/** Where pages lie; infra/template/page-addresses.js leads their addresses here. */
export const pageRoot = 'pages/';

export function nodePagePath(nodeId: string): string {
  return `${pageRoot}nodes/${foldNodeId(nodeId)}.html`;
}

export function versionPagePath(nodeId: string, version: string): string {
  return `${pageRoot}nodes/${foldNodeId(nodeId)}/${version}.html`;
}

export const publisherPages = `${pageRoot}publishers/`;

export function publisherPagePath(publisherId: string): string {
  return `${publisherPages}${foldNodeId(publisherId)}.html`;
}

/** What the site's search reads for a word; packages/site/search-pieces.ts has its content. */
export const searchPages = `${pageRoot}search/`;

export function searchPiecePath(piece: number): string {
  return `${searchPages}${piece}.json`;
}

/** The piece of the catalog that a node belongs to. */
export function pieceOf(nodeId: string, pieces: number): number {
  return Number.parseInt(hash('sha256', foldNodeId(nodeId)).slice(0, 8), 16) % pieces;
}
