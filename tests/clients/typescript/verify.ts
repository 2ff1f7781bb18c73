// Deliveries of a running service, verified by two published libraries: a ping, then an event that two secrets signed.
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { env } from 'node:process'
import { Webhook as Standard } from 'standardwebhooks'
import { Webhook as Svix } from 'svix'

type Received = { body: string; headers: Record<string, string> }
const waiting: ((received: Received) => void)[] = []
const arrived: Received[] = []

const plain = (headers: IncomingHttpHeaders): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]))

const server = createServer(async (request, response) => {
  const pieces: Buffer[] = []
  for await (const piece of request) pieces.push(piece as Buffer)
  const received = { body: Buffer.concat(pieces).toString(), headers: plain(request.headers) }
  const next = waiting.shift()
  if (next) next(received)
  else arrived.push(received)
  response.writeHead(204).end()
}).listen(0, '127.0.0.1')
await once(server, 'listening')
const { port } = server.address() as AddressInfo

const take = (): Promise<Received> => {
  const first = arrived.shift()
  return first ? Promise.resolve(first) : new Promise((resolve) => waiting.push(resolve))
}

async function call<Answer>(method: string, path: string, body?: unknown): Promise<Answer> {
  const answer = await fetch(`${env['BASE_URL']}/api/v1/public${path}`, {
    method,
    headers: { Authorization: `Bearer ${env['API_KEY']}`, 'Content-Type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  if (!answer.ok) throw new Error(`${method} ${path} answered ${answer.status}: ${await answer.text()}`)
  return (await answer.json()) as Answer
}

const verifiers = { standardwebhooks: Standard, svix: Svix }
type Verdict = 'verified' | 'refused'

function verdict(name: keyof typeof verifiers, secret: string, body: string, headers: Received['headers']): Verdict {
  try {
    new verifiers[name](secret).verify(body, headers)
    return 'verified'
  } catch {
    return 'refused'
  }
}

function verdicts(secret: string, { body, headers }: Received): Record<string, Verdict[]> {
  const changed = body.replace('"livemode":false', '"livemode":true')
  const late = { ...headers, 'webhook-timestamp': String(Number(headers['webhook-timestamp']) - 3600) }
  return Object.fromEntries(
    (Object.keys(verifiers) as (keyof typeof verifiers)[]).map((name) => [
      name,
      [
        verdict(name, secret, body, headers),
        verdict(name, secret, changed, headers),
        verdict(name, secret, body, late),
      ],
    ]),
  )
}

const hook = { url: `http://127.0.0.1:${port}/hook`, events: ['invitation.created'] }
const made = await call<{ id: string; secret_key: string }>('POST', '/webhooks/create/', hook)
const old = made.secret_key
await call('POST', `/webhooks/${made.id}/test/`)
const ping = verdicts(old, await take())

const rotated = await call<{ secret_key: string }>('POST', `/webhooks/${made.id}/rotate-secret/`, { overlap_hours: 1 })
const assessment = await call<{ slug: string }>('POST', '/assessments/create/', { title: 'Verified in TypeScript' })
await call('PATCH', `/assessments/${assessment.slug}/update/`, { status: 'active' })
await call('POST', `/assessments/${assessment.slug}/invites/`, { email: 'zoe@example.com', name: 'Zoë Ōta 🎉' })
const event = await take()

console.log(
  JSON.stringify({
    type: (JSON.parse(event.body) as { type: string }).type,
    ping,
    old: verdicts(old, event),
    new: verdicts(rotated.secret_key, event),
    other: verdicts('whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', event),
  }),
)
server.close()
server.closeAllConnections()
