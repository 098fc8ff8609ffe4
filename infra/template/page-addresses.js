// Maps URLs of pages to their objects: every spelling of an id to its one page, and "+" to itself, which S3
// reads as a space. CloudFront runs it for each request; the local stack runs the same file. The framework
// would read a dollar sign with a brace as a variable of its own.
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
  if (parts.length > 2 && parts[parts.length - 1] === '') parts.pop();
  const folder = parts[1];
  if (parts.length === 2 && (folder === '' || folder === 'search')) request.uri = '/site/index.html';
  else if (parts.length > 2 && /^(?:index|pages|site)$/.test(folder)) request.uri = parts.join('/');
  else if (folder === 'nodes' || folder === 'publishers') {
    if (parts[2]) parts[2] = parts[2].toLowerCase().replace(/[-_.]+/g, '-');
    request.uri = '/pages'.concat(parts.join('/'), '.html');
    // The feed, and unknown paths: outside these folders the bucket answers 403 instead of a page.
  } else request.uri = '/pages'.concat(parts.join('/'));
  return request;
}
