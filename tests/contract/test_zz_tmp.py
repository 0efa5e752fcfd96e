import asyncio, time


async def test_speed(world, ada):
    ids = []
    for n in range(2000):
        ids.append(
            (
                await ada.post(
                    "/acme/indicator", {"title": f"t{n}", "type": "counter", "acl": ["uma"]}
                )
            ).json["id"]
        )
    plain = world.client("ada")
    object.__setattr__(plain, "check", lambda *a: None)

    async def best(f, n=5):
        found = []
        for _ in range(n):
            t = time.perf_counter()
            await f()
            found.append(time.perf_counter() - t)
        return min(found)

    async def one():
        for _ in range(50):
            await plain.get(f"/acme/indicator/{ids[5]}")

    async def lst():
        await plain.get("/acme/indicator")

    o = await best(one)
    l = await best(lst)
    print("one us", o / 50 * 1e6, "list ms", l * 1e3, "ratio", l / (o / 50))
    it = None

    async def call(f):
        for _ in it:
            await f()

    async def inc():
        r = await plain.patch(f"/acme/indicator/{ids[7]}/increase")
        assert r.status == 200

    async def rd():
        await plain.get(f"/acme/indicator/{ids[7]}")

    for name, f in (("inc", inc), ("read", rd), ("inc", inc), ("read", rd)):
        it = iter(range(1000))
        t = time.perf_counter()
        await asyncio.gather(*(call(f) for _ in range(16)))
        print(name, 1000 / (time.perf_counter() - t), "/s")
