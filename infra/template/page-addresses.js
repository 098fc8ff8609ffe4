// Leads the addresses of pages to their objects: every spelling of an id to its one page, and "+" to itself, which S3
// reads as a blank. CloudFront runs it for each request; the local stack runs the same file. The framework would take a
// dollar with a brace for a variable of its own.
function encoded(part) {
  try {
    return encodeURIComponent(decodeURIComponent(part));
  } catch (_) {
    return encodeURIComponent(part);
  }
}

// biome-ignore lint/correctness/noUnusedVariables: CloudFront calls it by this name.
function handler(event) {
  const request = event.request;
  const parts = request.uri.split('/').map(encoded);
  const folder = parts[1];
  if (parts.length === 2 && (folder === '' || folder === 'search')) request.uri = '/site/index.html';
  else if (parts.length === 2 && /^(?:feed\.xml|sitemap\.xml|robots\.txt)$/.test(folder))
    request.uri = '/pages/'.concat(folder);
  else if (folder === 'nodes' || folder === 'publishers') {
    if (parts[parts.length - 1] === '') parts.pop();
    if (parts[2]) parts[2] = parts[2].toLowerCase().replace(/[-_.]+/g, '-');
    request.uri = '/pages'.concat(parts.join('/'), '.html');
  } else request.uri = parts.join('/');
  return request;
}
