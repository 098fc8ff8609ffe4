/** The host of a regional AWS service. Regions in China have their own domain. */
export function serviceHost(service: string, region: string): string {
  return `${service}.${region}.amazonaws.com${region.startsWith('cn-') ? '.cn' : ''}`;
}
