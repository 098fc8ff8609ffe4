import { hash } from 'node:crypto';
import { foldNodeId } from './fold-node-id.ts';

/** The paths of the index files in the bucket. A node's id is folded, so that every spelling finds it. */

const root = 'index/v1/';

export const configPath = `${root}config.json`;

export function nodePath(nodeId: string): string {
  return `${root}nodes/${foldNodeId(nodeId)}.json`;
}

/** For a node's additional files. */
function nodeFolder(nodeId: string): string {
  return `${root}nodes/${foldNodeId(nodeId)}/`;
}

export function readmePath(nodeId: string): string {
  return `${nodeFolder(nodeId)}readme.json`;
}

export function hostNodesPath(nodeId: string, version: string): string {
  return `${nodeFolder(nodeId)}${version}/host-nodes.json`;
}

/** The catalog, in any number of pieces. */
export const catalogFolder = `${root}catalog/`;

/** The number of pieces is part of the path, so a catalog of another size is written next to the live one. */
export function catalogPath(pieces: number, piece: number): string {
  return `${catalogFolder}${pieces}/${piece}.json`;
}

/** The profiles of all publishers. It is next to the catalog's pieces, so that one listing finds any change. */
export const publishersPath = `${catalogFolder}publishers.json`;

/** The most used nodes, which readers show first. */
export const topPath = `${root}top.json`;

/** The folder of pages; packages/site/page-addresses.js maps their URLs to it. */
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

/** The files of the site's search, by word; packages/site/search-pieces.ts defines their content. */
export const searchPages = `${pageRoot}search/`;

export function searchPiecePath(piece: number): string {
  return `${searchPages}${piece}.json`;
}

/** The piece of the catalog that contains a node. */
export function pieceOf(nodeId: string, pieces: number): number {
  return Number.parseInt(hash('sha256', foldNodeId(nodeId)).slice(0, 8), 16) % pieces;
}
