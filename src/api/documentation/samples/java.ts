import { SAMPLE_TIMEOUT_S, type SampleRequest } from './request.ts';

/** Writes a request as a program of Java 17 in one file, without any library. */
export function java({ id, method, url, needsToken, headers, body }: SampleRequest): string {
  const token = needsToken
    ? ['            .header("Authorization", "Bearer " + System.getenv("ACCESS"))']
    : [];
  const others = headers.map(
    ([name, value]) => `            .header(${JSON.stringify(name)}, ${JSON.stringify(value)})`,
  );
  return [
    'import java.net.URI;',
    'import java.net.http.HttpClient;',
    'import java.net.http.HttpRequest;',
    'import java.net.http.HttpResponse;',
    'import java.time.Duration;',
    '',
    `public class ${id[0]!.toUpperCase()}${id.slice(1)} {`,
    '    public static void main(String[] args) throws Exception {',
    ...(body ? [`        var body = ${textBlock(body)};`] : []),
    `        var request = HttpRequest.newBuilder(URI.create(${JSON.stringify(url)}))`,
    ...token,
    ...others,
    `            .method("${method}", HttpRequest.BodyPublishers.${body ? 'ofString(body)' : 'noBody()'})`,
    `            .timeout(Duration.ofSeconds(${SAMPLE_TIMEOUT_S}))`,
    '            .build();',
    '        var response = HttpClient.newHttpClient()',
    '            .send(request, HttpResponse.BodyHandlers.ofString());',
    '        System.out.println(response.statusCode() + " " + response.body());',
    '    }',
    '}',
    '',
  ].join('\n');
}

/** A text block ends at its quotes and reads backslashes, so those of the JSON are doubled. */
function textBlock(body: object): string {
  const json = JSON.stringify(body, null, 2).replaceAll('\\', '\\\\').replaceAll('"""', '\\"""');
  const lines = json.split('\n').map((line) => `            ${line}`);
  return `"""\n${lines.join('\n')}"""`;
}
