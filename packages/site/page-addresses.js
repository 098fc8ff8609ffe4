// Maps URLs of pages to their objects, and redirects another spelling of an id, a version or a path to its one URL.
// CloudFront runs it for each request; the local stack runs the same file. The framework would read a dollar
// sign with a brace as a variable of its own.
function encoded(part) {
  try {
    return encodeURIComponent(decodeURIComponent(part));
  } catch (_) {
    return encodeURIComponent(part);
  }
}

// Search engines list the one URL; "v1.0" means 1.0.0, as everywhere in the registry.
function label(version) {
  const parts = /^v?(\d+)(?:\.(\d+))?(?:\.(\d+))?$/i.exec(version);
  if (parts === null) return version.replace(/^v(?=\d)/i, '');
  return [parts[1], parts[2] || '0', parts[3] || '0'].map((part) => part.replace(/^0+(?=\d)/, '')).join('.');
}

function redirect(parts, querystring) {
  const query = Object.keys(querystring || {}).map((name) => name.concat('=', querystring[name].value));
  const value = parts.join('/').concat(query.length > 0 ? '?'.concat(query.join('&')) : '');
  return { statusCode: 301, statusDescription: 'Moved Permanently', headers: { location: { value } } };
}

// biome-ignore lint/correctness/noUnusedVariables: CloudFront calls it by this name.
function handler(event) {
  const request = event.request;
  const parts = request.uri.split('/').map(encoded);
  const folder = parts[1];
  if (parts.length > 2 && /^(?:index|pages|site)$/.test(folder)) {
    request.uri = parts.join('/');
    return request;
  }
  const one = parts.slice();
  while (one.length > 2 && one[one.length - 1] === '') one.pop();
  if (folder === 'nodes' || folder === 'publishers') {
    if (one[2]) one[2] = one[2].toLowerCase().replace(/[-_.]+/g, '-');
    if (folder === 'nodes' && one[3]) one[3] = label(one[3]);
  }
  // An empty first part would be another host.
  if (one.join('/') !== parts.join('/') && one[1] !== '') return redirect(one, request.querystring);
  if (one.length === 2 && folder === '') request.uri = '/pages/home.html';
  else if (one.length === 2 && folder === 'search') request.uri = '/site/index.html';
  else if (folder === 'nodes' || folder === 'publishers')
    request.uri = '/pages'.concat(one.join('/'), '.html');
  // The feed, and unknown paths: outside these folders the bucket answers 403 instead of a page.
  else request.uri = '/pages'.concat(one.join('/'));
  return request;
}
