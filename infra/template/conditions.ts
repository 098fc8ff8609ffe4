import type { Values } from '../parameters/parameters.ts';

/**
 * The features of a stage. Parts of the template name these as their `Condition` or in `Fn::If`. All are
 * known before any call to AWS, so disabled parts aren't deployed.
 */
export function conditionsOf(values: Values) {
  const ServesDownloads = !values.downloadBaseUrl;
  const CountsDownloads = ServesDownloads && values.accessLogs !== 'off';
  const LogsAccesses = values.accessLogs === 'on';
  return {
    ServesDownloads,
    CountsDownloads,
    LogsAccesses,
    KeepsLogs: LogsAccesses || CountsDownloads,
    HasDashboard: values.dashboard === 'on',
    HasAdministrators: Boolean(values.administrators),
    HasArchiveAdministrator: Boolean(values.archiveAdministratorArn),
    HasDomain: Boolean(values.domainName),
    HasHostedZone: Boolean(values.hostedZoneId),
    HasWebAcl: Boolean(values.webAclArn),
    HasSiteDomain: Boolean(values.siteDomainName),
    HidesGeneratedUrl: values.generatedUrl === 'off',
    RelaysNotifications: values.notifications === 'relay',
    ServesResults: values.notifications === 'relay' && values.resultRoutes !== 'off',
    ServesPeople: values.selfService === 'on',
    ServesAccount: Boolean(values.accountDomainName),
    AllowsAccount:
      Boolean(values.accountDomainName) && !isAllowed(`https://${values.accountDomainName}`, values),
    ServesSite: values.site === 'on',
  };
}

function isAllowed(origin: string, { corsOrigins = '' }: Values): boolean {
  return ['*', origin].some((each) => corsOrigins.split(',').includes(each));
}
