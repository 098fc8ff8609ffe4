/** The host of a regional AWS service; regions in China have a domain of their own. */
export function serviceHost(service: string, region: string): string {
  return `${service}.${region}.amazonaws.com${region.startsWith('cn-') ? '.cn' : ''}`;
}
