import scalar from '@scalar/fastify-api-reference';
import type { FastifyInstance } from 'fastify';
import type { JsonObject } from './json.ts';

interface ReferencePage {
  document: JsonObject;
  /** Filled in for trying things out. */
  apiUrl?: string;
  accessToken?: string;
}

export const referencePath = '/reference/';

/**
 * Serves the document for people to read, and to try out. The viewer's script comes from its package, and all
 * that it would fetch from or tell to others is turned off: the page works on a machine without a network.
 */
export async function addReferencePage(
  server: FastifyInstance,
  { document, apiUrl, accessToken }: ReferencePage,
): Promise<void> {
  await server.register(scalar, {
    routePrefix: '/reference',
    logLevel: 'silent',
    configuration: {
      content: document,
      pageTitle: 'API reference',
      ...(apiUrl !== undefined && { servers: [{ url: apiUrl }] }),
      authentication: {
        preferredSecurityScheme: 'accessToken',
        ...(accessToken !== undefined && { securitySchemes: { accessToken: { token: accessToken } } }),
      },
      favicon: 'data:,',
      defaultOpenAllTags: true,
      hideModels: true,
      documentDownloadType: 'json',
      withDefaultFonts: false,
      telemetry: false,
      showDeveloperTools: 'never',
      hideClientButton: true,
      agent: { disabled: true },
      mcp: { disabled: true },
    },
  });
}
